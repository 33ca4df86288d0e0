// Package settings knows the settings of a session or a server with which a promise of the toolkit cannot
// hold: which variables have to have which value, what is wrong with another one, and what to change.
//
// [Check] asks any handle for them, which is pool.Check, and links neither the guard nor the hosts;
// [SetRequired], [RefuseParam] and the refusals are for pool.Open, which sets a session up and refuses a data
// source name that says otherwise. So each setting and each reason stands once.
//
// Statements: those of Check, which writes nothing.
//
// Open this package when a promise does not hold under a setting of the server.
package settings
