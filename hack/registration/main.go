// Command registration writes the manifests by which a Gardener gets to know the extension
// shoot-flux, with the chart in them or a reference to it.
package main

import (
	"bytes"
	"embed"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"go.landscaper.dev/internal/content/component/archive"
)

// forms are the manifests; what all have in common is a template, too.
//
//go:embed *.yaml.tmpl
var forms embed.FS

func main() {
	chart := flag.String("chart", "", "folder of the chart")
	reference := flag.String("reference", "", "where the chart is in a registry, for gardener-operator")
	image := flag.String("image", "", "image of the extension, as NAME:TAG")
	out := flag.String("out", "", "folder for the manifests")
	flag.Parse()
	if err := run(*chart, *reference, *image, *out); err != nil {
		fmt.Fprintln(os.Stderr, "registration:", err)
		os.Exit(1)
	}
}

func run(chart, reference, image, out string) error {
	colon := strings.LastIndex(image, ":")
	if colon < strings.LastIndex(image, "/") {
		return fmt.Errorf("image %q: add a tag", image)
	}
	packed, err := pack(chart)
	if err != nil {
		return fmt.Errorf("pack the chart: %w", err)
	}
	values := map[string]string{
		"Chart": base64.StdEncoding.EncodeToString(packed), "Reference": reference, "Repository": image[:colon], "Tag": image[colon+1:],
	}
	parsed, err := template.New("").Option("missingkey=error").ParseFS(forms, "*.yaml.tmpl")
	if err != nil {
		return err
	}
	for _, name := range []string{"controller-registration.yaml", "operator-extension.yaml"} {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, name+".tmpl", values); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name), text.Bytes(), 0o644); err != nil { // it is for everybody
			return err
		}
	}
	return nil
}

// pack packs a chart as Helm does. The same files give the same bytes.
func pack(folder string) ([]byte, error) {
	var files []archive.File
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path)) // it is ours
		files = append(files, archive.File{Path: filepath.Base(folder) + "/" + path, Data: content})
		return err
	})
	if err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = archive.Gzip(&packed, func(to io.Writer) error { return archive.Pack(to, files...) })
	return packed.Bytes(), err
}
