package deploy

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// image is what a Dockerfile of deploy/ says of its last stage, and how it builds its program.
type image struct {
	path              string
	build             string // the shell's line
	program           string // the path in the image
	pkg               string // the package's folder, below the root
	command           []string
	env               map[string]string
	user, port        string
	complaints, bases []string
}

var (
	goBuild     = regexp.MustCompile(`\bgo build (?:-C (\S+) )?.*-o (\S+) (\./\S+)$`)
	instruction = regexp.MustCompile(`(?m)^([A-Z]+) (.+)$`)
)

// parseImage reads a Dockerfile of one instruction a line.
func parseImage(files tree, file string) *image {
	i := &image{path: file, env: map[string]string{}}
	say := func(format string, args ...any) {
		i.complaints = append(i.complaints, file+": "+fmt.Sprintf(format, args...))
	}
	if files[file] == "" {
		say("there is no such Dockerfile")
	}
	var entry, built []string
	for _, line := range instruction.FindAllStringSubmatch(files[file], -1) {
		words := strings.Fields(line[2])
		switch line[1] {
		case "FROM":
			i.bases = append(i.bases, words[0])
		case "RUN":
			if of := goBuild.FindStringSubmatch(line[2]); of != nil {
				i.build, i.pkg = line[2], path.Join(of[1], of[3])
				built = append(built, of[2])
			} else if made, ok := strings.CutPrefix(line[2], "mkdir -p "); ok {
				built = append(built, strings.Fields(made)...)
			}
		case "COPY":
			i.checkCopy(files, words, built, say)
		case "ENTRYPOINT", "CMD":
			to := &entry
			if line[1] == "CMD" {
				to = &i.command
			}
			if err := json.Unmarshal([]byte(line[2]), to); err != nil {
				say("%s is no list, and there is no shell: %v", line[1], err)
			}
		case "ENV":
			name, value, _ := strings.Cut(line[2], "=")
			i.env[name] = value
		case "USER":
			i.user = line[2]
		case "EXPOSE":
			i.port = line[2]
		}
	}
	if i.build == "" || len(entry) != 1 || !slices.Contains(built, entry[0]) {
		say("the entry point %q is not what is built: %q", entry, built)
		return i
	}
	i.program = entry[0]
	if !files.exists(i.pkg) {
		say("it builds %s, which is not there", i.pkg)
	}
	if uid, _, _ := strings.Cut(i.user, ":"); uid == "" || uid == "0" || uid == "root" {
		say("the user is %q", i.user)
	}
	return i
}

// fromBase are files that the builder's own image has.
var fromBase = []string{"/etc/ssl/certs/ca-certificates.crt"}

func (i *image) checkCopy(files tree, words, built []string, say func(string, ...any)) {
	stage := false
	words = slices.DeleteFunc(words, func(w string) bool {
		stage = stage || strings.HasPrefix(w, "--from=")
		return strings.HasPrefix(w, "--")
	})
	for _, from := range words[:len(words)-1] {
		within := func(made string) bool { return made == from || strings.HasPrefix(made, from+"/") }
		switch {
		case stage && !slices.ContainsFunc(built, within) && !slices.Contains(fromBase, from):
			say("it copies %s, which no line before has made", from)
		case !stage && !files.exists(path.Clean(from)):
			say("it copies %s, which is not there", from)
		}
	}
}

// pinned says that a tag names one version: no latest, no major version alone.
var pinned = regexp.MustCompile(`^[\w./-]+:v?\d+\.\d+(\.\d+)?(-\w+)?$`)

// images are all of deploy/.
func images(files tree) (all map[string]*image, complaints []string) {
	all = map[string]*image{}
	for file := range files {
		if !strings.HasSuffix(file, "Dockerfile") {
			continue
		}
		i := parseImage(files, file)
		for _, base := range i.bases {
			if base != "scratch" && !pinned.MatchString(base) {
				i.complaints = append(i.complaints, file+": "+base+" names no version")
			}
		}
		if !files.exists(file + ".dockerignore") {
			i.complaints = append(i.complaints, file+" has no .dockerignore")
		}
		all[file], complaints = i, append(complaints, i.complaints...)
	}
	return all, complaints
}

// TestDockerfiles: what they copy and build is there.
func TestDockerfiles(t *testing.T) {
	const worker, web = "deploy/Dockerfile", "deploy/projects.Dockerfile"
	wantFound(t, readTree(t), func(files tree) []string { _, complaints := images(files); return complaints },
		planted{worker, "COPY go.mod go.sum", "COPY go.mod go.sums", "copies go.sums, which is not there"},
		planted{worker, "-o /cascade-worker ./cmd/cascade-worker", "-o /cascade-worker ./cmd/worker", "builds cmd/worker, which is not there"},
		planted{worker, "--from=build /cascade-worker", "--from=build /worker", "copies /worker, which no line before has made"},
		planted{worker, `ENTRYPOINT ["/cascade-worker"]`, `ENTRYPOINT ["/worker"]`, "is not what is built"},
		planted{worker, `CMD ["run"`, `CMD run`, "there is no shell"},
		planted{worker, "USER 65532:65532", "USER 0", `the user is "0"`},
		planted{web, "build -C examples", "build -C example", "example/projects, which is not there"},
		planted{web, "busybox:1.37.0", "busybox:latest", "names no version"},
	)
}

// builder builds the program of a Dockerfile once, by its own line.
var builder struct {
	sync.Mutex
	dir   string
	built map[string]string
}

// buildProgram runs the line that builds the image's program, with another place for it, and returns that.
func buildProgram(t *testing.T, i *image) string {
	t.Helper()
	builder.Lock()
	defer builder.Unlock()
	if at := builder.built[i.path]; at != "" {
		return at
	}
	if builder.dir == "" {
		folder, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		builder.dir, builder.built = filepath.Join(folder, ".cache", "deploy"), map[string]string{}
		if err := os.MkdirAll(builder.dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	at := filepath.Join(builder.dir, path.Base(i.program))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(i.build, "-o "+i.program+" ", "-o "+at+" ", 1))
	cmd.Dir, cmd.Env = root, append(os.Environ(), "VERSION=proof")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", i.build, err, out)
	}
	builder.built[i.path] = at
	return at
}
