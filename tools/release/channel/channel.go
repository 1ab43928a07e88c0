// Package channel writes what package managers read that download archives: a formula of Homebrew,
// and a manifest of krew for kubectl.
package channel

import (
	"bytes"
	"embed"
	"fmt"
	"strings"
	"text/template"
)

//go:embed *.tmpl
var forms embed.FS

// Archive is an archive of the command line that was published.
type Archive struct{ OS, Arch, URL, SHA256 string }

// Release is what the channels have to know.
type Release struct {
	Name, Version, Summary, Homepage string
	Archives                         []Archive
}

// Channels are the files, by the names of their templates.
var Channels = map[string]string{"landscaper-cli.rb": "formula.rb.tmpl", "landscaper-krew.yaml": "krew.yaml.tmpl"}

// On returns the archives for an operating system.
func (r Release) On(system string) []Archive {
	var found []Archive
	for _, archive := range r.Archives {
		if archive.OS == system {
			found = append(found, archive)
		}
	}
	return found
}

// Write returns the file of a channel.
func (r Release) Write(name string) ([]byte, error) {
	parsed, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{"bare": func(version string) string { return strings.TrimPrefix(version, "v") }}).ParseFS(forms, "*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	var text bytes.Buffer
	if err := parsed.ExecuteTemplate(&text, Channels[name], r); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return text.Bytes(), nil
}
