package main

// The cascade's bugs.
var cascadeBugs = []bug{}
