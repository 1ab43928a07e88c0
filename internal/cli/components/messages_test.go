package components

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// TestDocumentsActOnNoTerminal prints what a descriptor may say.
func TestDocumentsActOnNoTerminal(t *testing.T) {
	const evil = "a\u202eb\u2066\u009b"
	for _, form := range []string{outputJSON, outputYAML} {
		t.Run(form, func(t *testing.T) {
			var out strings.Builder
			if err := writeDocument(&out, form, map[string]any{"provider": evil, evil: []any{evil}}); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", out.String())
			}
			var got map[string]any
			if err := yaml.Unmarshal([]byte(out.String()), &got); err != nil || got["provider"] != evil {
				t.Errorf("%v: %q", err, out.String())
			}
		})
	}
}

// TestWarningsActOnNoTerminal prints what other readers would refuse in a descriptor.
func TestWarningsActOnNoTerminal(t *testing.T) {
	d := &descriptor.Descriptor{Resources: []descriptor.Resource{{}}}
	d.Name, d.Version = "example.org/shop", "1.0.0"
	d.Resources[0].Name, d.Resources[0].ExtraIdentity = "image", map[string]string{"a\x1b[2J": "b"}
	var out strings.Builder
	warn(&out, d.Warnings())
	if !strings.HasPrefix(out.String(), "Warning: ") || strings.ContainsFunc(strings.TrimSuffix(out.String(), "\n"), terminal.Controls) {
		t.Errorf("%q", out.String())
	}
}

// TestMessages: each tells what is wrong and what to do about it, and the exit code
// tells whether it is the command line.
func TestMessages(t *testing.T) {
	files := keys(t)
	files["typo.yaml"] = "components:\n- name: example.org/a\n  version: 1.0.0\n  provider: p\n  resorces: []\n"
	files["both.yaml"] = "name: example.org/a\nversion: 1.0.0\nprovider: p\nresources:\n- {name: aa, type: t, access: {type: none}, input: {type: utf8}}\n"
	files["neither.yaml"] = "name: example.org/a\nversion: 1.0.0\nprovider: p\nresources:\n- {name: aa, type: t}\n"
	files["constructor.yaml"] = shopConstructor
	files["empty/blobs/none"] = ""
	files["blueprint/blueprint.yaml"] = "kind: Blueprint\n"
	terminaltest.WriteFiles(t, files)
	for _, args := range []string{
		"push constructor.yaml transport --create --set VERSION=1.4.2 --skip-digests -q",
		"sign transport example.org/shop/db 3.1.0 -s release -k release.key",
	} {
		if got := execute(t, strings.Fields(args)...); got.code != 0 {
			t.Fatalf("%s: %+v", args, got)
		}
	}
	const there = "there are example.org/shop/db:3.1.0, example.org/shop/web:1.4.2"
	for _, test := range []struct {
		reason, args string
		code         int
		err          string
	}{
		{"a missing key names both ways", "verify transport example.org/shop/db 3.1.0", terminal.ExitUsage, "name the key of the signer with --public-key, or the authorities for signers with --ca-cert"},
		{"an unknown signature lists those that are there", "verify transport example.org/shop/db 3.1.0 -s nope -k release.pub", terminal.ExitNotFound, `has no signature "nope": there are release`},
		{"an issuer that nothing is compared with", "verify transport example.org/shop/db 3.1.0 -k release.pub --issuer CN=x", terminal.ExitUsage, "leave one of them out"},
		{"an unknown hash", "sign transport example.org/shop/db 3.1.0 -s s -k release.key --hash SHA-1", terminal.ExitUsage, "SHA-256 and SHA-512 are known"},
		{"an unknown algorithm", "sign transport example.org/shop/db 3.1.0 -s s -k release.key --algorithm rsa", terminal.ExitUsage, "use RSASSA-PSS or RSASSA-PKCS1-V1_5"},
		{"an unknown normal form", "sign transport example.org/shop/db 3.1.0 -s s -k release.key --normalisation x", terminal.ExitUsage, "jsonNormalisation/v4alpha1 are known"},
		{"a wrong sub-command", "nope", terminal.ExitUsage, `unknown command "nope"`},
		{"broken JSON is no missing type", `get {"type":`, terminal.ExitUsage, "the repository context is no JSON: unexpected end of JSON input"},
		{"an unknown field has a place", "push typo.yaml transport", terminal.ExitFailed, `typo.yaml: the constructor file: line 5: unknown field "resorces": did you mean resources?`},
		{"access beside input", "push both.yaml transport", terminal.ExitFailed, `both.yaml: the constructor file: line 5: resources[0]: resource "aa" has both an access and an input: keep one of them`},
		{"neither access nor input", "push neither.yaml transport", terminal.ExitFailed, "has neither an access nor an input: add one of them"},
		{"a resource that is not there, once", "download transport example.org/shop/db 3.1.0 nope", terminal.ExitNotFound, "Error: failed to get resource with name nope: component version example.org/shop/db:3.1.0 has none with the identity {\"name\":\"nope\"}: there are schema\n"},
		{"a version without a component", "get transport//:2.0.0", terminal.ExitNotFound, `there is no component of version "2.0.0" in transport: ` + there},
		{"neither component nor version, in an archive of several", "get transport", terminal.ExitUsage, "name the component and its version: " + there},
		{"an archive with nothing in it", "get empty", terminal.ExitNotFound, "there is no component version in empty: it is empty"},
		{"a component without versions", "list transport example.org/none", terminal.ExitNotFound, `component "example.org/none" has no versions in transport: ` + there + "\n"},
		{"a place for a copy that is not there", "copy transport example.org/shop/db 3.1.0 nowhere", terminal.ExitUsage, "make it with --create"},
		{"an archive for a copy that is not there", "copy transport example.org/shop/db 3.1.0 ./nowhere", terminal.ExitNotFound, "make it with --create"},
		{"all resources to the standard output", "download transport example.org/shop/db 3.1.0 --all -O -", terminal.ExitUsage, "name the directory with --output-file"},
		{"all unpacked", "download transport example.org/shop/db 3.1.0 --all --extract", terminal.ExitUsage, "name the RESOURCE to unpack instead of --all"},
		{"a single resource with --recursive", "download transport example.org/shop/web 1.4.2 schema -R", terminal.ExitUsage, "--recursive belongs to --all"},
		{"unpacked and as an archive", "download transport example.org/shop/db 3.1.0 schema --extract --oci-layout", terminal.ExitUsage, "leave one of them out"},
		{"unpacked to the standard output", "download transport example.org/shop/db 3.1.0 schema --extract -O -", terminal.ExitUsage, "--extract needs a directory"},
		{"a layout to the standard output", "download transport example.org/shop/db 3.1.0 schema --oci-layout -O -", terminal.ExitUsage, "--oci-layout writes a file"},
		{"nothing at a time", "copy transport example.org/shop/db 3.1.0 transport --parallel 0", terminal.ExitUsage, "--parallel 0: at least one"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := execute(t, strings.Fields(test.args)...)
			if got.code != test.code || !strings.Contains(got.err, test.err) || got.out != "" {
				t.Errorf("%+v, want code %d and %q", got, test.code, test.err)
			}
		})
	}
}

// TestWrongLogin: a user who gave credentials is not asked to give some.
func TestWrongLogin(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	terminaltest.WriteFiles(t, map[string]string{"wrong.json": `{"auths":{"` + host + `":{"username":"u","password":"wr0ng"}}}`, "none.json": `{}`})
	for file, want := range map[string]string{
		"wrong.json": "the registry " + host + " does not accept the credentials that it was given, or they do not permit this\n",
		"none.json":  "give credentials with --registry-config or --ocm-config\n",
	} {
		t.Run(file, func(t *testing.T) {
			got := execute(t, "get", server.URL, "example.org/shop", "1.0.0", "--registry-config", file)
			if got.code != terminal.ExitForbidden || !strings.HasSuffix(got.err, want) || strings.Contains(got.err, "wr0ng") || (file == "wrong.json") == strings.Contains(got.err, "give credentials") {
				t.Errorf("%s: %+v", file, got)
			}
		})
	}
}
