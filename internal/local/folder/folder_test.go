package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileFolders: nothing outside of the folder is read, and nothing without a limit.
func TestHostileFolders(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(outside, []byte("secret: canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	const inst = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Installation\nmetadata: {name: a"
	component := func(path string) string {
		return "components: [{name: example.org/a, version: 1.0.0, provider: {name: a}, resources: [{name: content, type: blob, input: {type: file, path: " + path + "}}]}]"
	}
	for _, test := range []struct {
		reason string
		make   func(directory string) error
		want   string
	}{
		{"a link to a file of the machine", func(d string) error { return os.Symlink("/etc/passwd", filepath.Join(d, "a.yaml")) }, "path escapes from parent"},
		{"a link to a file beside the folder", func(d string) error { return os.Symlink(outside, filepath.Join(d, "a.yaml")) }, "path escapes from parent"},
		{"an input outside", func(d string) error { return text(d, "c.yaml", component("/etc/passwd")) }, "leads out of the folder"},
		{"an input above", func(d string) error { return text(d, "c.yaml", component("../../etc/passwd")) }, "leads out of the folder"},
		{"an input through a link", func(d string) error {
			return errs(os.Symlink("/etc", filepath.Join(d, "etc")), text(d, "c.yaml", component("etc/passwd")))
		}, "path escapes from parent"},
		{"a blueprint above", func(d string) error {
			return text(d, "a.yaml", inst+", annotations: {local.landscaper.gardener.cloud/blueprint: ../../etc}}")
		}, "leads out of the folder"},
		{"rules that name a file outside", func(d string) error {
			return text(d, "local.yaml", "apiVersion: local.landscaper.gardener.cloud/v1alpha1\nkind: LocalLandscape\nclusters: [{cluster: a, files: [/etc/passwd]}]")
		}, "leads out of the folder"},
		{"a file of a gigabyte, which takes no space", func(d string) error {
			return errs(text(d, "a.yaml", ""), os.Truncate(filepath.Join(d, "a.yaml"), 1<<30))
		}, "a.yaml is longer than 8 MiB"},
		{"a field that does not exist", func(d string) error { return text(d, "a.yaml", inst+"}\nspec: {import: {}}") }, `there is no field "import": did you mean imports?`},
		{"a variable without a value", func(d string) error { return text(d, "a.yaml", inst+", namespace: \"${NAMESPACE}\"}") }, "give it one with --set NAMESPACE=VALUE"},
		{"an object twice", func(d string) error { return errs(text(d, "a.yaml", inst+"}"), text(d, "b.yaml", inst+"}")) }, "is in the folder twice"},
		{"an input of another kind", func(d string) error {
			return text(d, "c.yaml", strings.Replace(component("a"), "type: file, path: a", "type: wget, url: http://127.0.0.1/a", 1))
		}, "an input of type \"wget\" is not read"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			directory := t.TempDir()
			if err := test.make(directory); err != nil {
				t.Fatal(err)
			}
			_, err := Read(directory, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func text(directory, name, content string) error {
	return os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600)
}

// errs is the first error.
func errs(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}
