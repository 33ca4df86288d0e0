package deploy

import (
	"bytes"
	"fmt"
	"path"

	"github.com/goccy/go-yaml"
)

// scrapeFile is prometheus.yml, as far as it is used here.
type scrapeFile struct {
	Global struct {
		ScrapeInterval     string `yaml:"scrape_interval"`
		EvaluationInterval string `yaml:"evaluation_interval"`
	}
	RuleFiles     []string `yaml:"rule_files"`
	ScrapeConfigs []struct {
		JobName       string                       `yaml:"job_name"`
		StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
	} `yaml:"scrape_configs"`
}

// sourceFile is a provisioning file of Grafana's data sources.
type sourceFile struct {
	APIVersion  int `yaml:"apiVersion"`
	Datasources []struct {
		Name, UID, Type, Access, URL string
		IsDefault                    bool `yaml:"isDefault"`
		Editable                     bool
		JSONData                     struct {
			TimeInterval string `yaml:"timeInterval"`
		} `yaml:"jsonData"`
	}
}

// providerFile is a provisioning file of Grafana's dashboards.
type providerFile struct {
	APIVersion int `yaml:"apiVersion"`
	Providers  []struct {
		Name, Folder, Type string
		DisableDeletion    bool `yaml:"disableDeletion"`
		AllowUIUpdates     bool `yaml:"allowUiUpdates"`
		Options            struct{ Path string }
	}
}

const (
	scrapePath   = "deploy/prometheus.yml"
	sourcePath   = "deploy/grafana/provisioning/datasources/prometheus.yml"
	providerPath = "deploy/grafana/provisioning/dashboards/onerow.yml"
)

// provision is what Prometheus and Grafana are told.
type provision struct {
	scrape    scrapeFile
	sources   sourceFile
	providers providerFile
}

// readProvision decodes the three files. A field that is not of their structs is a complaint.
func readProvision(files tree) (p provision, complaints []string) {
	say := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	for file, into := range map[string]any{scrapePath: &p.scrape, sourcePath: &p.sources, providerPath: &p.providers} {
		if err := yaml.NewDecoder(bytes.NewReader([]byte(files[file])), yaml.Strict()).Decode(into); err != nil {
			say("%s: %v", file, err)
		}
	}
	loads := false
	for _, rules := range p.scrape.RuleFiles {
		at := path.Join(path.Dir(scrapePath), rules)
		loads = loads || at == alertsPath
		if _, has := files[at]; !has {
			say("%s: it loads %s, which is not there", scrapePath, rules)
		}
	}
	if !loads {
		say("%s: it does not load the alerts", scrapePath)
	}
	if len(p.sources.Datasources) != 1 || p.sources.Datasources[0].Type != "prometheus" || !p.sources.Datasources[0].IsDefault {
		say("%s: not one Prometheus, the default: %+v", sourcePath, p.sources.Datasources)
	} else if every := p.sources.Datasources[0].JSONData.TimeInterval; every != p.scrape.Global.ScrapeInterval {
		say("%s: timeInterval is %s, and Prometheus scrapes every %s", sourcePath, every, p.scrape.Global.ScrapeInterval)
	}
	if len(p.providers.Providers) != 1 || p.providers.Providers[0].Type != "file" {
		say("%s: not one provider of files: %+v", providerPath, p.providers.Providers)
	}
	if p.sources.APIVersion != 1 || p.providers.APIVersion != 1 {
		say("%s, %s: the apiVersion is not 1", sourcePath, providerPath)
	}
	return p, complaints
}

// job is the name that the samples of the worker get; empty: none is scraped.
func (p provision) job(target string) string {
	for _, config := range p.scrape.ScrapeConfigs {
		for _, static := range config.StaticConfigs {
			for _, one := range static.Targets {
				if one == target {
					return config.JobName
				}
			}
		}
	}
	return ""
}
