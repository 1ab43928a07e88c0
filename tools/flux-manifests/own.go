package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/flux2/v2/pkg/manifestgen/install"
)

// writeOwn writes what Flux's own command line makes of the manifests, which is what the
// extension is compared with. The kinds are left out: nothing about them is an option.
func writeOwn(manifests, version, out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, options := range wanted(version) {
		made, err := generate(manifests, options)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var kept bytes.Buffer
		for _, document := range strings.Split(made, "---\n") {
			if strings.Contains(document, "kind: ") && !strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
				kept.WriteString("---\n" + document)
			}
		}
		if err := os.WriteFile(filepath.Join(out, name+".yaml"), kept.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate works on a copy, since files of its own get in between.
func generate(manifests string, options install.Options) (string, error) {
	folder, err := os.MkdirTemp("", "flux-own-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // what is left is in the folder for what is left
	if err := os.CopyFS(folder, os.DirFS(manifests)); err != nil {
		return "", err
	}
	made, err := install.Generate(options, folder)
	if err != nil {
		return "", err
	}
	return made.Content, nil
}

// wanted are the installations to compare: the usual one, and one in which each option
// is another.
func wanted(version string) map[string]install.Options {
	usual := install.MakeDefaultOptions()
	usual.Version = version
	other := usual
	other.Components = append(append([]string{}, usual.Components...), usual.ComponentsExtra...)
	other.Namespace, other.Registry, other.ImagePullSecret = "gitops", "registry.example.org:5000/mirror", "pull"
	other.WatchAllNamespaces, other.NetworkPolicy = false, false
	other.ClusterDomain, other.LogLevel, other.TolerationKeys = "cluster.example", "debug", []string{"dedicated", "example.org/flux"}
	quiet := usual
	quiet.Components = []string{"source-controller", "kustomize-controller"}
	return map[string]install.Options{"usual": usual, "other": other, "quiet": quiet}
}
