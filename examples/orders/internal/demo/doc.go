// Package demo tells the two stories of the example, step by step, with a real client, and checks each step:
// a story that goes otherwise than it says is an error.
package demo
