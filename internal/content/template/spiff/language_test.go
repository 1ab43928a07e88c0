package spiff_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/content/template/spiff"
)

// languageCase is one case of testdata/language. Why says what would break.
type languageCase struct {
	Name      string            `yaml:"name"`
	Rule      string            `yaml:"rule"`
	Why       string            `yaml:"why"`
	Template  string            `yaml:"template"`
	Stubs     []string          `yaml:"stubs"`
	Bindings  string            `yaml:"bindings"`
	State     string            `yaml:"state"`
	Features  []string          `yaml:"features"`
	Files     map[string]string `yaml:"files"`
	Access    string            `yaml:"access"`
	Result    yaml.Node         `yaml:"result"`
	Documents yaml.Node         `yaml:"documents"`
	NewState  yaml.Node         `yaml:"newState"`
	Fails     map[string]string `yaml:"fails"` // class by path
}

func TestLanguage(t *testing.T) {
	files, err := filepath.Glob("testdata/language/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases found: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []languageCase
		if err := yaml.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		theme := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for _, c := range cases {
			t.Run(theme+"/"+c.Name, func(t *testing.T) { c.run(t) })
		}
	}
}

func (c *languageCase) engine(t *testing.T) *spiff.Engine {
	t.Helper()
	config := spiff.Config{Features: c.Features, Limits: spiff.Limits{Depth: 1000}}
	if c.Access != "none" {
		files := fstest.MapFS{}
		for name, content := range c.Files {
			files[name] = &fstest.MapFile{Data: []byte(content)}
		}
		config.Access, config.Files = spiff.AccessFiles, files
	}
	engine, err := spiff.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func (c *languageCase) input(t *testing.T) (docs []spiff.Document, in spiff.Input) {
	t.Helper()
	docs, err := spiff.Parse([]byte(c.Template), "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Stubs {
		doc, err := spiff.ParseOne([]byte(s), "stub.yaml")
		if err != nil {
			t.Fatal(err)
		}
		in.Stubs = append(in.Stubs, doc)
	}
	if c.Bindings != "" {
		doc, err := spiff.ParseData([]byte(c.Bindings), "bindings.yaml")
		if err != nil {
			t.Fatal(err)
		}
		in.Bindings, _ = doc.Data().(map[string]any)
	}
	if c.State != "" {
		doc, err := spiff.ParseData([]byte(c.State), "state.yaml")
		if err != nil {
			t.Fatal(err)
		}
		in.State = &doc
	}
	return docs, in
}

func (c *languageCase) run(t *testing.T) {
	docs, in := c.input(t)
	prepared, err := c.engine(t).Prepare(context.Background(), in)
	if err != nil {
		c.checkFailure(t, err)
		return
	}
	stream := prepared.Stream(spiff.Options{})
	var got []any
	var last *spiff.Result
	for _, d := range docs {
		r, err := stream.Process(context.Background(), d)
		if err != nil {
			c.checkFailure(t, err)
			return
		}
		if last = r; !r.Temporary {
			got = append(got, plain(t, r.Data()))
		}
	}
	if c.Fails != nil {
		t.Fatalf("no failure, but %v", got)
	}
	want := decode(t, c.Documents)
	if c.Documents.Kind == 0 {
		want = []any{decode(t, c.Result)}
	}
	if diff := cmp.Diff(want, any(got), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if c.NewState.Kind != 0 {
		if diff := cmp.Diff(decode(t, c.NewState), plain(t, last.State())); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
	}
}

func (c *languageCase) checkFailure(t *testing.T, err error) {
	t.Helper()
	var report *spiff.Error
	if c.Fails == nil || !errors.As(err, &report) {
		t.Fatalf("unexpected error: %v", err)
	}
	got := map[string]string{}
	for _, n := range report.Nodes {
		got[n.Path] = string(n.Class)
		if n.Message == "" {
			t.Errorf("%s has no message", n.Path)
		}
	}
	if diff := cmp.Diff(c.Fails, got); diff != "" {
		t.Errorf("failing nodes (-want +got):\n%s\n%v", diff, err)
	}
}

// decode and plain bring values into the same shape: what YAML makes of them.
func decode(t *testing.T, n yaml.Node) any {
	t.Helper()
	var v any
	if n.Kind == 0 {
		return nil
	}
	if err := n.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func plain(t *testing.T, v any) any {
	t.Helper()
	text, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := yaml.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
