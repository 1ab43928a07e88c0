package blueprints

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/landscape/plan"
)

func TestParseKinds(t *testing.T) {
	for _, test := range []struct {
		reason, text string
		simulated    bool
		want         string // in their order; "" is an error
		message      string
	}{
		{"all of what is known without exports", "all", false, "deployitems subinstallations", ""},
		{"all of a simulated tree", "all", true, "deployitems exports imports subinstallations", ""},
		{"by short names", "di,subinst", false, "deployitems subinstallations", ""},
		{"a single short name", "inst", false, "subinstallations", ""},
		{"in any case, with spaces", " DI , Imports ", false, "deployitems imports", ""},
		{"a kind that is named twice", "di,deployitems,di", false, "deployitems", ""},
		{"imports are known without a simulation", "imports", false, "imports", ""},
		{"all does not take away what was asked for before", "imports,all", false, "deployitems imports subinstallations", ""},
		{"all does not take away what is asked for behind it", "all,imports", false, "deployitems imports subinstallations", ""},
		{"exports of a simulated tree", "exports", true, "exports", ""},
		{"exports that are not known", "di,exports", false, "", "exports can only be worked out if -e"},
		{"exports that are not known, with all behind them", "exports,all", false, "", "exports can only be worked out if -e"},
		{"nothing", "", false, "", "unknown resource ''"},
		{"an empty name", "di,", false, "", "unknown resource ''"},
		{"another name", "deployitem", false, "", "unknown resource 'deployitem': choose from all, "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := parseKinds(test.text, test.simulated)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			var names []string
			for name, chosen := range got {
				if chosen {
					names = append(names, name)
				}
			}
			if slices.Sort(names); strings.Join(names, " ") != test.want {
				t.Errorf("got %v", names)
			}
		})
	}
}

// TestNoConfigurationIsShown hides what may hold a kubeconfig, wherever it stands.
func TestNoConfigurationIsShown(t *testing.T) {
	target := func() map[string]any {
		return map[string]any{"metadata": map[string]any{"name": "t"}, "spec": map[string]any{"type": "x", "config": map[string]any{"kubeconfig": "s3cret"}}}
	}
	in := plan.Input{Blueprint: &blueprint.Blueprint{Info: &v1alpha1.Blueprint{
		Imports: []v1alpha1.ImportDefinition{
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "one"}, Type: v1alpha1.ImportTypeTarget},
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "list"}, Type: v1alpha1.ImportTypeTargetList},
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "map"}, Type: v1alpha1.ImportTypeTargetMap},
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "data"}, Type: v1alpha1.ImportTypeData, ConditionalImports: []v1alpha1.ImportDefinition{
				{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "inner"}, Type: v1alpha1.ImportTypeTarget},
			}},
		},
		Exports: []v1alpha1.ExportDefinition{
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "one"}, Type: v1alpha1.ExportTypeTarget},
			{FieldValueDefinition: v1alpha1.FieldValueDefinition{Name: "data"}, Type: v1alpha1.ExportTypeData},
		},
	}}}
	values := map[string]any{
		"one": target(), "inner": target(), "list": []any{target(), nil, target()}, "map": map[string]any{"a": target()},
		"data": map[string]any{"config": "shown"},
	}
	before, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason    string
		sensitive bool
		got       func(o *renderOptions) map[string]any
		hidden    int
		secrets   int
	}{
		{"imports", false, func(o *renderOptions) map[string]any { return o.shownImports(in, values) }, 5, 0},
		{"imports, if they are asked for", true, func(o *renderOptions) map[string]any { return o.shownImports(in, values) }, 0, 5},
		{"exports", false, func(o *renderOptions) map[string]any {
			return o.shownExports(in, map[string]any{"one": target(), "data": values["data"]})
		}, 1, 0},
		{"exports, if they are asked for", true, func(o *renderOptions) map[string]any { return o.shownExports(in, map[string]any{"one": target()}) }, 0, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			text, err := json.Marshal(test.got(&renderOptions{sensitive: test.sensitive}))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(text), hidden); got != test.hidden {
				t.Errorf("%d are hidden: %s", got, text)
			}
			if got := strings.Count(string(text), "s3cret"); got != test.secrets {
				t.Errorf("%d are shown: %s", got, text)
			}
			if !test.sensitive && strings.Contains(test.reason, "ports") && !strings.Contains(string(text), `"config":"shown"`) {
				t.Errorf("data is no Target: %s", text)
			}
		})
	}
	if after, err := json.Marshal(values); err != nil || !bytes.Equal(before, after) {
		t.Errorf("templates would see what is shown: %s, %v", after, err)
	}
}

func TestWithoutConfig(t *testing.T) {
	for _, test := range []struct {
		reason    string
		got, want any
	}{
		{"a text", "x", "x"},
		{"nothing", nil, nil},
		{"no configuration says so", map[string]any{"config": nil}, map[string]any{"config": nil}},
		{"an empty one may be one", map[string]any{"config": ""}, map[string]any{"config": hidden}},
		{"a text", map[string]any{"config": "s3cret"}, map[string]any{"config": hidden}},
		{"a list", map[string]any{"config": []any{"s3cret"}}, map[string]any{"config": hidden}},
		{"far inside", []any{map[string]any{"a": []any{map[string]any{"config": 1}}}}, []any{map[string]any{"a": []any{map[string]any{"config": hidden}}}}},
		{"another field", map[string]any{"secretRef": map[string]any{"name": "n"}}, map[string]any{"secretRef": map[string]any{"name": "n"}}},
	} {
		t.Run(test.reason+fmt.Sprintf(" %v", test.want), func(t *testing.T) {
			if diff := cmp.Diff(test.want, withoutConfig(test.got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFilesWithSecrets writes Targets into files that were there before, and into new ones.
func TestFilesWithSecrets(t *testing.T) {
	for _, test := range []struct {
		reason    string
		sensitive bool
		want      fs.FileMode
	}{
		{"without secrets, files are like others", false, 0o644},
		{"secrets are for the user alone", true, 0o600},
	} {
		t.Run(test.reason, func(t *testing.T) {
			dir := t.TempDir()
			before := filepath.Join(dir, "deployitems", "old.yaml")
			if err := os.Mkdir(filepath.Dir(before), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(before, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			o := &renderOptions{directory: dir, output: "yaml", sensitive: test.sensitive, streams: terminal.Streams{Out: io.Discard}}
			units := []unit{{names: []string{"deployitems", "old"}, content: "x"}, {names: []string{"deployitems", "new"}, content: "x"}}
			if err := o.writeFiles(units); err != nil {
				t.Fatal(err)
			}
			for _, u := range units {
				name := filepath.Join(dir, filepath.FromSlash(u.path())+".yaml")
				info, err := os.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(name); err != nil || string(text) != "x\n" {
					t.Errorf("%s holds %q, %v", name, text, err)
				}
				if got := info.Mode().Perm(); got != test.want {
					t.Errorf("%s has mode %o", name, got)
				}
			}
		})
	}
}

// TestResultsActOnNoTerminal renders what a descriptor may have brought in.
func TestResultsActOnNoTerminal(t *testing.T) {
	const evil = "a\u202eb\u2066\u009b"
	all := []unit{{names: []string{"item" + evil}, content: map[string]any{"text": evil}}}
	for _, test := range []struct {
		reason, output string
		write          func(*renderOptions) error
	}{
		{"a stream of YAML", "yaml", func(o *renderOptions) error { return o.writeStream(all) }},
		{"a stream of JSON", outputJSON, func(o *renderOptions) error { return o.writeStream(all) }},
		{"a single document", outputJSON, func(o *renderOptions) error { return writeJSON(o.streams.Out, all) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var out strings.Builder
			if err := test.write(&renderOptions{output: test.output, kinds: kinds{}, streams: terminal.Streams{Out: &out}}); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsFunc(strings.ReplaceAll(out.String(), "\n", ""), terminal.Controls) {
				t.Errorf("acts on the terminal: %q", out.String())
			}
			if !strings.Contains(strings.ToLower(out.String()), `a\u202eb`) {
				t.Errorf("the text is lost: %q", out.String())
			}
		})
	}
}

func TestTidy(t *testing.T) {
	object := func() map[string]any {
		return map[string]any{"kind": "K", "status": map[string]any{"a": 1}, "metadata": map[string]any{"name": "n", "uid": "u", "creationTimestamp": nil, "ownerReferences": []any{}}, "spec": map[string]any{"status": 1}}
	}
	for _, test := range []struct {
		reason    string
		got, want any
		message   string
	}{
		{"an object without what a cluster fills in", object(), map[string]any{"kind": "K", "metadata": map[string]any{"name": "n"}, "spec": map[string]any{"status": int64(1)}}, ""},
		{"a map without kind keeps its fields", map[string]any{"status": "x", "metadata": map[string]any{"uid": "u"}}, map[string]any{"status": "x", "metadata": map[string]any{"uid": "u"}}, ""},
		{"metadata that are not a map", map[string]any{"kind": "K", "metadata": "x"}, map[string]any{"kind": "K", "metadata": "x"}, ""},
		{"a list", []any{"x"}, []any{"x"}, ""},
		{"a value that JSON does not have", map[string]any{"a": func() {}}, nil, "the result is no JSON"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := tidy(test.got)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStatesOf(t *testing.T) {
	got := statesOf(map[string][]byte{"yaml": []byte("a: [1]"), "text": []byte("x: ["), "empty": nil})
	want := map[string]any{"yaml": map[string]any{"a": []any{int64(1)}}, "text": "x: [", "empty": nil}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPack(t *testing.T) {
	files := fstest.MapFS{"blueprint.yaml": {Data: []byte(header)}, "dir/b": {Data: []byte("b"), Mode: 0o600}, "dir/a": {Data: []byte("a")}}
	first, err := pack(files)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the same files make the same artifact, whenever they were written", func(t *testing.T) {
		again := maps.Clone(files)
		again["dir/a"] = &fstest.MapFile{Data: []byte("a"), ModTime: time.Unix(1e9, 0)}
		second, err := pack(again)
		if err != nil || first.manifest().Digest != second.manifest().Digest {
			t.Errorf("%v, %v: %v", first.manifest().Digest, second.manifest().Digest, err)
		}
	})
	t.Run("another text makes another one", func(t *testing.T) {
		other := maps.Clone(files)
		other["dir/a"] = &fstest.MapFile{Data: []byte("A")}
		second, err := pack(other)
		if err != nil || first.manifest().Digest == second.manifest().Digest {
			t.Errorf("%v: %v", second.manifest().Digest, err)
		}
	})
	t.Run("the manifest comes last, after what it names", func(t *testing.T) {
		last := first[len(first)-1]
		var manifest struct {
			SchemaVersion  int
			Config, Layers any
		}
		if err := json.Unmarshal(last.data, &manifest); err != nil || manifest.SchemaVersion != 2 {
			t.Errorf("%s: %v", last.data, err)
		}
		for _, p := range first[:len(first)-1] {
			if !bytes.Contains(last.data, []byte(p.Digest)) || p.Size != int64(len(p.data)) {
				t.Errorf("%s of %d bytes is not named", p.Digest, p.Size)
			}
		}
	})
	t.Run("what comes out is what went in", func(t *testing.T) {
		tree, err := archive.Unpack(bytes.NewReader(first[0].data), archive.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		for name, file := range files {
			if got, err := fs.ReadFile(tree, name); err != nil || !bytes.Equal(got, file.Data) {
				t.Errorf("%s holds %q, %v", name, got, err)
			}
		}
	})
	t.Run("a file that cannot be read is named", func(t *testing.T) {
		broken := maps.Clone(files)
		broken["pipe"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
		if _, err := pack(broken); err == nil || !strings.Contains(err.Error(), "pipe") {
			t.Errorf("got %v", err)
		}
	})
}
