package provenance

import (
	"bytes"
	"encoding/json"
	"testing"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

var build = Build{
	Source: "https://example.org/landscaper", Commit: commit, Version: "v1.2.3", Registry: "registry.example.org",
	Platforms: []string{"linux/amd64"}, Go: "go1.26.8", Builder: "https://example.org/builder",
}

// TestStatement: a statement names each subject with its digest, the commit and the parameters,
// and has the same bytes each time, whatever the order of the subjects.
func TestStatement(t *testing.T) {
	a, b := OfFile("a", []byte("content")), OfFile("b", []byte("other"))
	first, err := build.Statement(a, b)
	if err != nil {
		t.Fatal(err)
	}
	second, err := build.Statement(b, a)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Errorf("the bytes differ:\n%s\n%s", first, second)
	}
	var got struct {
		Type          string `json:"_type"`
		PredicateType string `json:"predicateType"`
		Subject       []struct {
			Name   string
			Digest map[string]string
		}
		Predicate struct {
			BuildDefinition struct {
				ExternalParameters   map[string]any
				ResolvedDependencies []struct{ Digest map[string]string }
			}
		}
	}
	if err := json.Unmarshal(first, &got); err != nil {
		t.Fatal(err)
	}
	if got.Type != "https://in-toto.io/Statement/v1" || got.PredicateType != SLSA || len(got.Subject) != 2 || got.Subject[0].Name != "a" ||
		got.Subject[0].Digest["sha256"] != "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73" {
		t.Errorf("%s", first)
	}
	definition := got.Predicate.BuildDefinition
	if definition.ExternalParameters["version"] != "v1.2.3" || definition.ResolvedDependencies[0].Digest["gitCommit"] != commit {
		t.Errorf("%s", first)
	}
}

// TestInvalid: a statement about nothing, and a predicate that is not JSON, are errors.
func TestInvalid(t *testing.T) {
	if _, err := build.Statement(); err == nil {
		t.Error("a statement about nothing is accepted")
	}
	if _, err := Statement(CycloneDX, []byte("text"), OfFile("a", nil)); err == nil {
		t.Error("a predicate that is not JSON is accepted")
	}
}
