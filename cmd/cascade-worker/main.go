package main

import (
	"os"

	"github.com/onerow/onerow/cascade/command"
	"github.com/onerow/onerow/cascade/fileassets"
)

// version is set by the linker, as deploy/Dockerfile does: an image is built without the
// repository that Go would take it from.
var version string

func main() {
	os.Exit(command.Main(nil, command.Options{Version: version, OpenAssets: fileassets.Open}))
}
