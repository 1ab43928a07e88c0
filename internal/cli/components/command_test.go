package components

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// result is what a command line left behind.
type result struct {
	code     int
	out, err string
}

// run runs a command line below a root that has these commands only.
func run(ctx context.Context, streams terminal.Streams, args []string) int {
	root := &cobra.Command{Use: "landscaper-cli"}
	root.AddCommand(NewCommand(streams))
	return terminal.Run(ctx, root, streams, args)
}

func execute(t *testing.T, args ...string) result {
	t.Helper()
	c := &terminaltest.Console{Environment: map[string]string{"HOME": t.TempDir()}}
	code := run(t.Context(), c.Streams(), append([]string{"components"}, args...))
	return result{code, c.Out.String(), c.Err.String()}
}

const shopConstructor = `
components:
- name: example.org/shop/web
  version: ${VERSION}
  provider: {name: shop-team}
  resources:
  - {name: blueprint, type: landscaper.gardener.cloud/blueprint, input: {type: dir, path: blueprint, compress: true, mediaType: application/vnd.gardener.landscaper.blueprint.v1+tar+gzip}}
  - {name: tool, type: executable, extraIdentity: {os: linux}, input: {type: utf8, text: for linux}}
  - {name: tool, type: executable, extraIdentity: {os: darwin}, input: {type: utf8, text: for darwin}}
  - {name: away, type: file, version: "1", relation: external, access: {type: wget, url: "https://user:s3cr3t@files.example.org/a?token=s3cr3t"}}
  componentReferences:
  - {name: db, componentName: example.org/shop/db, version: 3.1.0}
- name: example.org/shop/db
  version: 3.1.0
  provider: {name: shop-team}
  resources:
  - {name: schema, type: landscaper.gardener.cloud/jsonschema, input: {type: utf8, text: '{"type":"string"}', mediaType: application/json}}
`

// shop publishes the components in an archive.
func shop(t *testing.T, archive string) {
	t.Helper()
	terminaltest.WriteFiles(t, map[string]string{"constructor.yaml": shopConstructor, "blueprint/blueprint.yaml": "kind: Blueprint\n", "blueprint/deploy/item.yaml": "deployItems: []\n"})
	got := execute(t, "push", "constructor.yaml", archive, "--create", "--set", "VERSION=1.4.2", "--skip-digests", "-q")
	if got.code != 0 || !strings.Contains(got.out, "Published example.org/shop/web:1.4.2 in "+archive+" (sha256:") || got.err != "" {
		t.Fatalf("push: %+v", got)
	}
}

// TestEveryFormOfArchive reads what was published in each form that an archive
// can have.
func TestEveryFormOfArchive(t *testing.T) {
	for _, archive := range []string{"transport", "transport.tar", "transport.tgz", "below/transport.tar.gz"} {
		t.Run(archive, func(t *testing.T) {
			shop(t, archive)
			if entries, err := filepath.Glob(filepath.Join(filepath.Dir(archive), ".*")); err != nil || len(entries) > 0 {
				t.Errorf("%s: there is more than the archive: %v, %v", archive, entries, err)
			}
			if got := execute(t, "get", archive, "example.org/shop/web", "-o", "tree"); got.out != "example.org/shop/web:1.4.2\n└── db example.org/shop/db:3.1.0\n" {
				t.Errorf("%s: tree %+v", archive, got)
			}
			for _, args := range [][]string{{archive, "example.org/shop/web", "1.4.2"}, {archive + "//example.org/shop/web:1.4.2"}} {
				got := execute(t, append(append([]string{"download"}, args...), "cd://componentReferences/db/resources/schema", "-O", "-")...)
				if got.code != 0 || got.out != `{"type":"string"}` {
					t.Errorf("%s: download %+v", archive, got)
				}
			}
			got := execute(t, "push", "constructor.yaml", archive, "--set", "VERSION=1.4.3", "--skip-digests", "-q", "-o", "json")
			var published []publishedVersion
			if err := json.Unmarshal([]byte(got.out), &published); err != nil || len(published) != 2 || published[0].Version != "1.4.3" || published[0].Unchanged || !published[1].Unchanged {
				t.Errorf("%s: adding a version: %+v, %v", archive, got, err)
			}
			if got := execute(t, "get", archive, "example.org/shop/web", "9.9.9"); got.code != terminal.ExitNotFound || !strings.Contains(got.err, "there are example.org/shop/db:3.1.0, example.org/shop/web:1.4.2, example.org/shop/web:1.4.3") {
				t.Errorf("%s: what exists is said: %+v", archive, got)
			}
		})
	}
}

func TestOtherRepositories(t *testing.T) {
	shop(t, "transport")
	text := execute(t, "get", "transport", "example.org/shop/db").out
	d, err := descriptor.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	blob := "blobs/sha256." + strings.TrimPrefix(localReference(t, d), "sha256:")
	var packed bytes.Buffer
	writer := tar.NewWriter(&packed)
	for name, content := range map[string]string{"component-descriptor.yaml": text, blob: `{"type":"string"}`} {
		if err := writer.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	terminaltest.WriteFiles(t, map[string]string{
		"archive/component-descriptor.yaml": text, "archive/" + blob: `{"type":"string"}`, "archive.tar": packed.String(),
		"directory/any-name": text, "directory/" + blob: `{"type":"string"}`, "empty/none/file": "",
	})
	for _, at := range []string{"archive", "archive.tar", "directory", `{"type":"CommonTransportFormat","filePath":"none"}`} {
		got := execute(t, "get", at, "example.org/shop/db", "3.1.0")
		if strings.HasPrefix(at, "{") {
			if got.code != terminal.ExitNotFound {
				t.Errorf("%s: %+v", at, got)
			}
			continue
		}
		if got.code != 0 || got.out != text {
			t.Errorf("%s: %+v", at, got)
		}
		if got := execute(t, "download", at, "schema", "-O", "-"); got.out != `{"type":"string"}` {
			t.Errorf("%s: what is the only one may be left out: %+v", at, got)
		}
		if got := execute(t, "push", "x", at); got.code == 0 {
			t.Errorf("%s: nothing can be published there: %+v", at, got)
		}
	}
	if got := execute(t, "get", "empty"); got.code != terminal.ExitNotFound || !strings.Contains(got.err, "it is empty") {
		t.Errorf("an empty directory: %+v", got)
	}
}

func localReference(t *testing.T, d *descriptor.Descriptor) string {
	t.Helper()
	var access struct{ LocalReference string }
	if err := d.Resources[0].Access.Decode(&access); err != nil {
		t.Fatal(err)
	}
	return access.LocalReference
}

func TestGet(t *testing.T) {
	shop(t, "transport")
	get := func(args ...string) string {
		t.Helper()
		got := execute(t, append([]string{"get", "transport", "example.org/shop/web", "1.4.2"}, args...)...)
		if got.code != 0 || got.err != "" {
			t.Fatalf("%v: %+v", args, got)
		}
		return got.out
	}
	var one struct {
		Meta       map[string]string `json:"meta"`
		APIVersion string            `json:"apiVersion"`
	}
	if err := json.Unmarshal([]byte(get("-o", "json")), &one); err != nil || one.Meta["schemaVersion"] != "v2" {
		t.Errorf("JSON: %+v, %v", one, err)
	}
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(get("-o", "json", "-R", "--schema", "v3alpha1")), &all); err != nil || len(all) != 2 {
		t.Fatalf("all in JSON: %d, %v", len(all), err)
	}
	if err := json.Unmarshal(all[1], &one); err != nil || one.APIVersion != "ocm.software/v3alpha1" {
		t.Errorf("in another schema: %+v, %v", one, err)
	}
	for i, document := range strings.Split(get("--recursive"), "---\n") {
		d, err := descriptor.Decode([]byte(document))
		if want := []string{"web", "db"}[i]; err != nil || d.Name != "example.org/shop/"+want {
			t.Errorf("document %d of all in YAML is not %s (%v)", i, want, err)
		}
	}
}

func TestListResources(t *testing.T) {
	shop(t, "transport")
	list := func(args ...string) string {
		t.Helper()
		got := execute(t, append([]string{"list-resources", "transport", "example.org/shop/web", "1.4.2"}, args...)...)
		if got.code != 0 || got.err != "" {
			t.Fatalf("%v: %+v", args, got)
		}
		return got.out
	}
	const want = `NAME        VERSION   TYPE                                  RELATION   ACCESS      IDENTITY
blueprint   1.4.2     landscaper.gardener.cloud/blueprint   local      localBlob   -
tool        1.4.2     executable                            local      localBlob   os=linux
tool        1.4.2     executable                            local      localBlob   os=darwin
away        1         file                                  external   wget        -
`
	if got := list(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	wide := list("-R", "-o", "wide")
	for _, part := range []string{"COMPONENT ", "example.org/shop/db:3.1.0    schema", "https://hidden@files.example.org/a", "  sha256:"} {
		if !strings.Contains(wide, part) {
			t.Errorf("there is no %q in\n%s", part, wide)
		}
	}
	if strings.Contains(wide, "s3cr3t") {
		t.Errorf("an address shows its credentials:\n%s", wide)
	}
	var resources []listedResource
	if err := json.Unmarshal([]byte(list("-o", "json", "--recursive")), &resources); err != nil || len(resources) != 5 ||
		resources[1].Identity["os"] != "linux" || resources[4].Component != "example.org/shop/db:3.1.0" || resources[0].Digest == nil {
		t.Errorf("got %+v, %v", resources, err)
	}
}

func TestDownload(t *testing.T) {
	shop(t, "transport")
	type check struct {
		reason string
		args   string
		code   int
		out    string
		err    string
	}
	const from = "transport example.org/shop/web 1.4.2 "
	for _, test := range []check{
		{"a file named after the resource", from + "blueprint", 0, "Wrote blueprint.tgz (", ""},
		{"a file that exists is kept", from + "blueprint", 1, "", "the file blueprint.tgz exists: name another one with --output-file, or replace it with --force"},
		{"a file that exists is replaced with --force", from + "blueprint --force -o json", 0, `"file": "blueprint.tgz"`, ""},
		{"a directory beside others", from + "blueprint --extract -O out/files", 0, "Wrote 2 files to out/files (", ""},
		{"a directory that exists is kept", from + "blueprint --extract -O out/files", 1, "", "the directory out/files is not empty"},
		{"a directory that exists is replaced with --force", from + "blueprint --extract -O out/files --force", 0, "Wrote 2 files", ""},
		{"a directory is no file", from + "blueprint -O out", 1, "", "out is a directory: name a file"},
		{"a file is no directory", from + "blueprint --extract -O blueprint.tgz", 1, "", "blueprint.tgz is no directory"},
		{"no archive", from + "tool --identity os=linux --extract", 1, "", "download it without --extract to look at it"},
		{"standard output is no directory", from + "blueprint --extract -O -", 64, "", "--extract needs a directory"},
		{"two of that name", from + "tool", 64, "", "choose with --identity key=value: there are tool (os=linux), tool (os=darwin)"},
		{"a resource chosen from two of one name", from + "tool --identity os=darwin -O -", 0, "for darwin", ""},
		{"none of that identity", from + "tool --identity os=plan9", 3, "", "there are blueprint, tool (os=linux), tool (os=darwin), away"},
		{"half an identity", from + "tool --identity os", 64, "", "--identity \"os\": write a name, = and a value"},
		{"along a reference", from + "schema -r db -O -", 0, `{"type":"string"}`, ""},
		{"a reference that is not there", from + "schema -r cache/db -O -", 3, "", "there are db"},
		{"no resource", from + "nothing", 3, "", "there are blueprint, tool"},
		{"half a path", from + "cd://componentReferences/db", 64, "", "leads to no resource: write cd://resources/NAME"},
		{"the name of the resource is missing", "transport", 64, "", "Error: RESOURCE is missing"},
		{"an empty name", from + `""`, 64, "", "the RESOURCE is empty"},
	} {
		got := execute(t, append([]string{"download"}, terminaltest.Fields(test.args)...)...)
		if got.code != test.code || !strings.Contains(got.out, test.out) || test.out == "" && got.out != "" || !strings.Contains(got.err, test.err) || test.err == "" && got.err != "" {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
	if text, err := os.ReadFile("out/files/deploy/item.yaml"); err != nil || string(text) != "deployItems: []\n" {
		t.Errorf("unpacked %q, %v", text, err)
	}
	for _, pattern := range []string{".*", "out/.*", "out/files/.*"} {
		if left, err := filepath.Glob(pattern); err != nil || len(left) > 0 {
			t.Errorf("something is left: %v, %v", left, err)
		}
	}
	info, err := os.Stat("blueprint.tgz")
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the file has mode %v, %v", info.Mode(), err)
	}
}

// TestDamagedContent downloads what does not have its digest.
func TestDamagedContent(t *testing.T) {
	shop(t, "transport")
	text := execute(t, "get", "transport", "example.org/shop/db").out
	d, err := descriptor.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	blob := "blobs/" + localReference(t, d)
	terminaltest.WriteFiles(t, map[string]string{"archive/component-descriptor.yaml": text, "archive/" + blob: `{"type":"number"}`})
	for _, more := range [][]string{nil, {"--extract"}} {
		got := execute(t, append([]string{"download", "archive", "schema"}, more...)...)
		if got.code != terminal.ExitFailed || !strings.Contains(got.err, "mismatches existing digest") {
			t.Errorf("%v: %+v", more, got)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Errorf("a file was left: %v, %v", entries, err)
	}
}

func TestConstructorErrors(t *testing.T) {
	const head = "{name: example.org/shop/web, version: 1.0.0, provider: p, "
	for _, test := range []struct {
		reason, text, args string
		code               int
		want               string
	}{
		{"a file that is missing", head + "resources: [{name: rr, type: t, input: {type: file, path: nowhere}}]}", "", 1,
			`constructor.yaml: publish component version example.org/shop/web:1.0.0 to CommonTransportFormat new: resource "rr": input of type "file": nowhere is neither in the working directory nor beside the constructor file`},
		{"a resource that is there twice", head + "resources: [{name: rr, type: t, input: {type: utf8}}, {name: rr, type: t, input: {type: utf8}}]}", "", 1,
			`constructor.yaml: components[0].resources[1].name: "rr" is there twice: give one of them another name, version or extraIdentity`},
		{"a reference that is there twice", head + "references: [{name: aa, componentName: example.org/b, version: 1.0.0}], componentReferences: [{name: aa, componentName: example.org/b, version: 1.0.0}]}", "", 1,
			`components[0].componentReferences[1].name: "aa" is there twice`},
		{"a component that is there twice", "components: [" + head + "}, " + head + "}]", "", 1, "components[1]: the component version example.org/shop/web:1.0.0 is there twice: remove one"},
		{"an unknown input", head + "resources: [{name: rr, type: t, input: {type: maven}}]}", "", 1, `resource "rr": input of type "maven": use dir, file, utf8, binary, spiff, ociArtifact, helm, wget or git`},
		{"a variable without a value", "# ${COMMENT}\n" + head + "labels: [{name: l, value: \"${NOTE}\"}]}", "", 64, "constructor.yaml: line 2: the variable ${NOTE} has no value: give it one with --set NOTE=VALUE"},
		{"an unknown field", head + "resource: []}", "", 1, `constructor.yaml: the constructor file: line 1: unknown field "resource": did you mean resources?`},
		{"an unknown schema", head + "}", "--schema v9", 64, "invalid option for '--schema' flag"},
		{"no archive there", head + "}", "new", 64, `the REPOSITORY "new" is neither a file or directory that exists nor a registry`},
		{"no archive at a path", head + "}", "./new", 3, "make it with --create"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			terminaltest.WriteFiles(t, map[string]string{"constructor.yaml": test.text})
			args := append([]string{"push", "constructor.yaml"}, terminaltest.Fields(test.args)...)
			if test.args == "" || strings.HasPrefix(test.args, "--") {
				args = append(args, "new", "--create")
			}
			got := execute(t, args...)
			if got.code != test.code || !strings.Contains(got.err, test.want) || got.out != "" {
				t.Errorf("%s: %+v, want %d %q", test.reason, got, test.code, test.want)
			}
			if _, err := os.Stat("new"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: an archive was made", test.reason)
			}
		})
	}
	if got := execute(t, "push", "missing.yaml", "new", "--create"); got.code != terminal.ExitFailed || !strings.Contains(got.err, "read the constructor file: open missing.yaml") {
		t.Errorf("no constructor file: %+v", got)
	}
}

func TestVersionsDoNotChangeSilently(t *testing.T) {
	const text = "{name: example.org/shop/web, version: 1.0.0, provider: p, resources: [{name: rr, type: t, input: {type: utf8, text: \"${TEXT}\"}}]}"
	terminaltest.WriteFiles(t, map[string]string{"constructor.yaml": text, "settings.yaml": "TEXT: one\nNUMBER: 1\n", "wrong.yaml": "TEXT: [one]\n"})
	if got := execute(t, "push", "constructor.yaml", "archive", "--create", "--settings", "settings.yaml", "--dry-run"); got.code != 0 || !strings.Contains(got.out, "mediaType: text/plain") {
		t.Errorf("a preview: %+v", got)
	}
	if _, err := os.Stat("archive"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a preview has made the archive")
	}
	for _, test := range []struct {
		reason, args string
		code         int
		out, err     string
	}{
		{"a file with values", "--create --settings settings.yaml", 0, "Published", ""},
		{"the same content again", "--set TEXT=one", 0, "Unchanged:", ""},
		{"something else", "--set TEXT=two", 1, "", "the version exists with other content: publish another version, or allow to overwrite it (--overwrite)"},
		{"the other schema", "--create --settings settings.yaml --schema v3alpha1 --dry-run", 0, "ocm.software/v3alpha1", ""},
		{"something else on purpose; the command line counts more than a file", "--settings settings.yaml --set TEXT=two --overwrite -q", 0, "Published", ""},
		{"a value with a comma and a sign", "--set TEXT=two,a=b --dry-run", 0, "localBlob", ""},
		{"no value", "--set TEXT", 64, "", "--set \"TEXT\": write a name, = and a value"},
		{"a value that is a list", "--settings wrong.yaml", 64, "", "--settings wrong.yaml: the value of TEXT must be a text"},
		{"no such file", "--settings missing.yaml", 64, "", "--settings: open missing.yaml"},
	} {
		got := execute(t, append([]string{"push", "constructor.yaml", "archive"}, terminaltest.Fields(test.args)...)...)
		if got.code != test.code || !strings.Contains(got.out, test.out) || !strings.Contains(got.err, test.err) {
			t.Errorf("%s: %+v", test.reason, got)
		}
	}
	if got := execute(t, "download", "archive", "rr", "-O", "-"); got.out != "two" {
		t.Errorf("the archive has %+v", got)
	}
}
