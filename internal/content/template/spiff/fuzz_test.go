package spiff_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v3"

	"go.landscaper.dev/internal/content/template/spiff"
)

// canary is a bound secret that must never be part of a message.
const canary = "CaNaRy0secret"

// fuzzLimits keep one input below a fraction of a second.
var fuzzLimits = spiff.Limits{
	Depth: 200, Steps: 50_000, Time: 5 * time.Second,
}

func FuzzEvaluate(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, template, stub string) {
		docs, err := spiff.Parse([]byte(template), "template.yaml")
		if err != nil {
			return
		}
		in := spiff.Input{Bindings: map[string]any{
			"secret": canary, "map": map[string]any{canary: []any{canary, 1}}, "n": 4, "text": "(( " + canary + " ))",
		}}
		if doc, err := spiff.ParseOne([]byte(stub), "stub.yaml"); err == nil {
			in.Stubs = append(in.Stubs, doc)
		}
		engine, err := spiff.New(spiff.Config{
			Access: spiff.AccessFiles, Files: fstest.MapFS{"a.yaml": {Data: []byte("a: (( b ))")}},
			Features: []string{spiff.FeatureControl, spiff.FeatureInterpolation}, Limits: fuzzLimits, Sensitive: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		prepared, err := engine.Prepare(context.Background(), in)
		if checkFuzzError(t, err) {
			return
		}
		stream := prepared.Stream(spiff.Options{})
		for _, d := range docs {
			result, err := stream.Process(context.Background(), d)
			if checkFuzzError(t, err) {
				return
			}
			checkOutput(t, result)
		}
	})
}

// addSeeds uses the templates of the language cases.
func addSeeds(f *testing.F) {
	files, err := filepath.Glob("testdata/language/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var cases []languageCase
		if err := yaml.Unmarshal(text, &cases); err != nil {
			f.Fatal(err)
		}
		for _, c := range cases {
			f.Add(c.Template, strings.Join(c.Stubs, "\n"))
		}
	}
	f.Add("a: (( error(secret) ))\nb: (( map[secret] ))\nc: (( secret + 1 ))\nd: (( integer(secret) ))", "")
}

// checkFuzzError reports whether there is an error and checks its messages.
func checkFuzzError(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	if errors.Is(err, spiff.ErrTimeLimit) || errors.Is(err, spiff.ErrInternal) {
		t.Fatalf("evaluation is aborted: %v", err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Fatalf("message holds a bound value: %v", err)
	}
	var report *spiff.Error
	if errors.As(err, &report) {
		for _, n := range report.Nodes {
			if n.Message == "" {
				t.Fatalf("node %s has no message", n.Path)
			}
		}
	}
	return true
}

// checkOutput reads the YAML output again.
func checkOutput(t *testing.T, result *spiff.Result) {
	t.Helper()
	text, err := result.YAML()
	if err != nil {
		t.Fatalf("result cannot be written: %v", err)
	}
	again, err := spiff.ParseData([]byte(text), "output")
	if err != nil {
		t.Fatalf("output cannot be read: %v\n%s", err, text)
	}
	second, err := again.Result().YAML()
	if err != nil || second != text {
		t.Fatalf("output changes when it is read again: %v\n%s\n%s", err, text, second)
	}
}
