package deploy

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

const composePath = "deploy/compose.yaml"

// loadCompose decodes compose.yaml as the command does, against its schema, with these variables.
func loadCompose(files tree, env map[string]string) (*types.Project, error) {
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: "/project/deploy", Environment: env,
		ConfigFiles: []types.ConfigFile{{Filename: "/project/" + composePath, Content: []byte(files[composePath])}},
	}, loader.WithDiscardEnvFiles)
}

// below is the path of a file of the project, as compose has it.
func below(absolute string) string {
	at, err := filepath.Rel("/project", absolute)
	if err != nil {
		return absolute
	}
	return filepath.ToSlash(at)
}

// composition checks compose.yaml, service by service.
type composition struct {
	files      tree
	project    *types.Project
	images     map[string]*image
	provision  provision
	reads      map[string]map[string]bool // by Dockerfile: what its program reads
	complaints []string
}

func (c *composition) say(format string, args ...any) {
	c.complaints = append(c.complaints, composePath+": "+fmt.Sprintf(format, args...))
}

// dockerfile is what the service's program is built by; empty: somebody else's image.
func (c *composition) dockerfile(s types.ServiceConfig) string {
	if s.Build == nil {
		return ""
	}
	return below(path.Join(s.Build.Context, s.Build.Dockerfile))
}

func checkCompose(files tree, reads map[string]map[string]bool) []string {
	project, err := loadCompose(files, nil)
	if err != nil {
		return []string{composePath + ": " + err.Error()}
	}
	c := &composition{files: files, project: project, reads: reads}
	c.images, c.complaints = images(files)
	var more []string
	c.provision, more = readProvision(files)
	c.complaints = append(c.complaints, more...)
	published := map[string]string{}
	for name, s := range project.Services {
		c.checkImage(s)
		c.checkWaits(s)
		c.checkEnvironment(s)
		c.checkVolumes(s)
		for _, port := range s.Ports {
			if other := published[port.Published]; other != "" || port.HostIP != "127.0.0.1" {
				c.say("%s publishes %s:%s (%s)", name, port.HostIP, port.Published, other)
			}
			if published[port.Published] = name; !slices.Contains(c.listens(s), fmt.Sprint(port.Target)) {
				c.say("%s publishes %d, and listens on %v", name, port.Target, c.listens(s))
			}
		}
	}
	c.checkMonitoring()
	return c.complaints
}

func (c *composition) checkImage(s types.ServiceConfig) {
	file := c.dockerfile(s)
	switch {
	case file != "" && c.images[file] == nil:
		c.say("%s is built by %s, which is not there", s.Name, file)
	case file != "" && below(s.Build.Context) != ".":
		c.say("%s is built in %s", s.Name, s.Build.Context)
	case file == "" && !pinned.MatchString(s.Image):
		c.say("%s: %s names no version", s.Name, s.Image)
	}
	if file != "" && (!s.ReadOnly || !slices.Contains(s.CapDrop, "ALL") || !slices.Contains(s.SecurityOpt, "no-new-privileges:true")) {
		c.say("%s may do more than it needs", s.Name)
	}
}

// checkWaits: what a service waits for comes to be.
func (c *composition) checkWaits(s types.ServiceConfig) {
	for name, wait := range s.DependsOn {
		other, ok := c.project.Services[name]
		switch {
		case !ok:
			c.say("%s waits for %s, which is not there", s.Name, name)
		case wait.Condition == types.ServiceConditionHealthy && other.HealthCheck == nil:
			c.say("%s waits until %s is healthy, and nobody asks", s.Name, name)
		case wait.Condition == types.ServiceConditionCompletedSuccessfully && other.Restart != "no":
			c.say("%s waits for the end of %s, which is restarted", s.Name, name)
		}
	}
	if s.HealthCheck == nil && s.Restart != "no" && !slices.ContainsFunc(c.neighbours(s), func(n types.ServiceConfig) bool { return n.HealthCheck != nil }) {
		c.say("nobody asks whether %s is healthy", s.Name)
	}
}

// neighbours are the services in the network of another.
func (c *composition) neighbours(s types.ServiceConfig) (all []types.ServiceConfig) {
	for _, other := range c.project.Services {
		if other.NetworkMode == "service:"+s.Name {
			all = append(all, other)
		}
	}
	return all
}

// secret is a value that nobody should write down.
var secret = regexp.MustCompile(`(?i)password|secret|token|dsn`)

// checkEnvironment: a program reads each variable that it gets, and a password is one of the demonstration's,
// which another one replaces.
func (c *composition) checkEnvironment(s types.ServiceConfig) {
	other, err := loadCompose(c.files, map[string]string{"ONEROW_DEMO_PASSWORD": "mine", "GRAFANA_DEMO_PASSWORD": "mine"})
	if err != nil {
		c.say("%v", err)
		return
	}
	for name, value := range s.Environment {
		if reads := c.reads[c.dockerfile(s)]; reads != nil && !reads[name] {
			c.say("%s gets %s, which it does not read", s.Name, name)
		}
		if value == nil || secret.MatchString(name) && *value != "yes" && (!strings.Contains(*value, "demo-only") || !strings.Contains(*other.Services[s.Name].Environment[name], "mine")) {
			c.say("%s: %s cannot be another one than in the file", s.Name, name)
		}
	}
}

func (c *composition) checkVolumes(s types.ServiceConfig) {
	for _, v := range s.Volumes {
		if v.Type != types.VolumeTypeBind {
			continue
		}
		if !c.files.exists(below(v.Source)) || !v.ReadOnly {
			c.say("%s mounts %s, which is not there or may be written", s.Name, below(v.Source))
		}
	}
}

// mounted says which file of the project a path of the service is.
func mounted(s types.ServiceConfig, at string) string {
	for _, v := range s.Volumes {
		if rest, ok := strings.CutPrefix(at, v.Target); ok && v.Type == types.VolumeTypeBind && (rest == "" || rest[0] == '/') {
			return below(v.Source) + rest
		}
	}
	return ""
}

// given is the value of a flag: "--name value" or "--name=value".
func given(args []string, flag string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// listens is where a service listens: its program says so in its flags, and others where they always do.
func (c *composition) listens(s types.ServiceConfig) (ports []string) {
	known := map[string]string{"mariadb": "3306", "prom/prometheus": "9090", "grafana/grafana": "3000"}
	for _, flag := range []string{"--http", "-addr"} {
		if host, port, ok := strings.Cut(given(s.Command, flag), ":"); ok && host == "0.0.0.0" {
			ports = append(ports, port)
		}
	}
	name, _, _ := strings.Cut(s.Image, ":")
	if port := known[name]; port != "" {
		ports = append(ports, port)
	}
	return ports
}

// wantService wants an address to be that of a service that listens there.
func (c *composition) wantService(where, address string) {
	name, port, _ := strings.Cut(address, ":")
	if s, ok := c.project.Services[name]; !ok || !slices.Contains(c.listens(s), port) {
		c.say("%s asks %s, where nobody listens", where, address)
	}
}

// checkMonitoring: Prometheus and Grafana find their files and each other, and health is asked where somebody
// listens.
func (c *composition) checkMonitoring() {
	for _, config := range c.provision.scrape.ScrapeConfigs {
		for _, static := range config.StaticConfigs {
			for _, target := range static.Targets {
				c.wantService(scrapePath, target)
			}
		}
	}
	for _, source := range c.provision.sources.Datasources {
		if at, err := url.Parse(source.URL); err == nil {
			c.wantService(sourcePath, at.Host)
		}
	}
	prometheus, grafana := c.project.Services["prometheus"], c.project.Services["grafana"]
	config := given(prometheus.Command, "--config.file")
	if mounted(prometheus, config) != scrapePath || mounted(prometheus, path.Join(path.Dir(config), "alerts.yml")) != alertsPath {
		c.say("prometheus has not %s and the alerts beside it", scrapePath)
	}
	if mounted(grafana, "/etc/grafana/provisioning") != "deploy/grafana/provisioning" {
		c.say("grafana has no provisioning")
	}
	for _, provider := range c.provision.providers.Providers {
		if mounted(grafana, provider.Options.Path) != "deploy/grafana" {
			c.say("grafana has no dashboards in %s", provider.Options.Path)
		}
	}
	for name, s := range c.project.Services {
		if at := asked(s); at != nil {
			listener := strings.TrimPrefix(s.NetworkMode, "service:")
			if listener == "" || s.NetworkMode == listener {
				listener = name
			}
			c.wantService(name+"'s health check", listener+":"+at.Port())
		}
	}
	if of := prometheusVersion(); c.project.Services["prometheus"].Image != "prom/prometheus:"+of {
		c.say("prometheus is not %s, whose parser reads the expressions", of)
	}
}

// asked is the address that a health check asks; nil: none.
func asked(s types.ServiceConfig) *url.URL {
	if s.HealthCheck == nil || len(s.HealthCheck.Test) == 0 {
		return nil
	}
	at, err := url.Parse(s.HealthCheck.Test[len(s.HealthCheck.Test)-1])
	if err != nil || at.Scheme != "http" {
		return nil
	}
	return at
}

// TestCompose: the file is one of compose's schema, and what it says of programs and files is so.
func TestCompose(t *testing.T) {
	reads := composeReads(t)
	wantFound(t, readTree(t), func(files tree) []string { return checkCompose(files, reads) }, composeMistakes...)
}
