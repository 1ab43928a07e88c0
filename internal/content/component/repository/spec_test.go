package repository

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// TestWrongSpecs: each message says what is wrong and what to write; none repeats
// credentials.
func TestWrongSpecs(t *testing.T) {
	for _, test := range []struct{ reason, context, want string }{
		{"none", "", "the repository context is missing"},
		{"no JSON", "{", "the repository context is no JSON: "},
		{"no type", `{"baseUrl":"r.example.org"}`, "the repository context has no type: use OCIRegistry with a baseUrl"},
		{"an unknown type", `{"type":"Maven/v1"}`, `unknown repository type "Maven": use OCIRegistry`},
		{"no address", `{"type":"OCIRegistry"}`, "names no host"},
		{"only a scheme", `{"type":"OCIRegistry","baseUrl":"https://"}`, "names no host"},
		{"only a path", `{"type":"OCIRegistry","baseUrl":"https:///path"}`, ""},
		{"a blank in the host", `{"type":"OCIRegistry","baseUrl":"r example.org"}`, "names no host"},
		{"a backslash, which some take for a slash", `{"type":"OCIRegistry","baseUrl":"good.example.org\\evil.org"}`, "names no host"},
		{"another scheme", `{"type":"OCIRegistry","baseUrl":"ftp://r.example.org"}`, `has the scheme "ftp": use https or http`},
		{"credentials", `{"type":"OCIRegistry","baseUrl":"https://user:s3cr3t@r.example.org"}`, `"https://hidden@r.example.org" of the repository context holds credentials: put them into a pull secret`},
		{"credentials without a scheme", `{"type":"OCIRegistry","baseUrl":"user:s3cr3t@r.example.org"}`, `"hidden@r.example.org" of the repository context holds credentials`},
		{"credentials in a query", `{"type":"OCIRegistry","baseUrl":"r.example.org?token=s3cr3t"}`, `"r.example.org" of the repository context has a query or a fragment: leave it out`},
		{"credentials in a fragment", `{"type":"OCIRegistry","baseUrl":"r.example.org#s3cr3t"}`, "has a query or a fragment"},
		{"an unknown way to make names", `{"type":"OCIRegistry","baseUrl":"r.example.org","componentNameMapping":"md5"}`, `unknown component name mapping method "md5": use urlPath or sha256-digest`},
		{"an address that is a number", `{"type":"OCIRegistry","baseUrl":1}`, "baseUrl"},
		{"an archive nowhere", `{"type":"CommonTransportFormat/v1"}`, "the repository context of type CommonTransportFormat has no filePath"},
		{"a component archive nowhere", `{"type":"ComponentArchive"}`, "has no filePath"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			spec, err := ParseSpec(descriptor.Typed(test.context))
			if test.want == "" {
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%+v, %v", spec, err)
			}
		})
	}
}

func TestEqual(t *testing.T) {
	const base = `{"type":"OCIRegistry","baseUrl":"r.example.org/a/b"}`
	for _, test := range []struct {
		reason, other string
		want          bool
	}{
		{"equal texts", base, true},
		{"another order", `{"baseUrl":"r.example.org/a/b","type":"OCIRegistry"}`, true},
		{"an old name of the type", `{"type":"ociRegistry","baseUrl":"r.example.org/a/b"}`, true},
		{"a version of the type", `{"type":"OCIRegistry/v1","baseUrl":"r.example.org/a/b"}`, true},
		{"the path in its own field", `{"type":"OCIRegistry","baseUrl":"r.example.org","subPath":"a/b"}`, true},
		{"a part of it", `{"type":"OCIRegistry","baseUrl":"r.example.org/a","subPath":"/b/"}`, true},
		{"with a scheme", `{"type":"OCIRegistry","baseUrl":"https://R.example.org/a/b/"}`, true},
		{"what is usual said", `{"type":"OCIRegistry","baseUrl":"r.example.org/a/b","componentNameMapping":"urlPath"}`, true},
		{"a limit is no other place", `{"type":"OCIRegistry","baseUrl":"r.example.org/a/b","blobLimit":5}`, true},
		{"without TLS", `{"type":"OCIRegistry","baseUrl":"http://r.example.org/a/b"}`, false},
		{"another path", `{"type":"OCIRegistry","baseUrl":"r.example.org/a"}`, false},
		{"another port", `{"type":"OCIRegistry","baseUrl":"r.example.org:5000/a/b"}`, false},
		{"other names", `{"type":"OCIRegistry","baseUrl":"r.example.org/a/b","componentNameMapping":"sha256-digest"}`, false},
		{"an archive", `{"type":"CommonTransportFormat","filePath":"r.example.org/a/b"}`, false},
		{"no repository", `{}`, false},
		{"nothing", ``, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Equal(descriptor.Typed(base), descriptor.Typed(test.other)); got != test.want {
				t.Error(got)
			}
			if Equal(descriptor.Typed(test.other), descriptor.Typed(base)) != test.want {
				t.Error("it is not the same the other way round")
			}
		})
	}
}

// TestRepositoryNames: how a repository is called in messages, and where components are.
func TestRepositoryNames(t *testing.T) {
	for _, test := range []struct{ reason, context, name, component string }{
		{"a registry", `{"type":"OCIRegistry","baseUrl":"https://r.example.org"}`, "r.example.org", "component-descriptors/example.org/shop"},
		{"without TLS, with a path", `{"type":"OCIRegistry","baseUrl":"http://r.example.org:5000/a"}`, "http://r.example.org:5000/a", "a/component-descriptors/example.org/shop"},
		{"names by their digest", `{"type":"OCIRegistry","baseUrl":"r.example.org/a","componentNameMapping":"sha256-digest"}`, "r.example.org/a", "a/"},
		{"an archive", `{"type":"CommonTransportFormat","filePath":"t.tgz"}`, "CommonTransportFormat t.tgz", "component-descriptors/example.org/shop"},
		{"a directory that is not named", `{"type":"local"}`, "local", "component-descriptors/example.org/shop"},
		{"what is part of an object", `{"type":"inline/v1","fileSystem":{}}`, "inline", "component-descriptors/example.org/shop"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			spec, err := ParseSpec(descriptor.Typed(test.context))
			if err != nil || spec.String() != test.name || !strings.HasPrefix(spec.Repository("example.org/shop"), test.component) {
				t.Errorf("%s, %s, %v", spec, spec.Repository("example.org/shop"), err)
			}
		})
	}
}

func TestBlobLimit(t *testing.T) {
	for _, test := range []struct {
		reason, context string
		want            int64
		wrong           bool
	}{
		{"none", `{"type":"OCIRegistry"}`, 0, false},
		{"no context", ``, 0, false},
		{"some", `{"type":"OCIRegistry","blobLimit":1024}`, 1024, false},
		{"none by its number", `{"type":"OCIRegistry","blobLimit":0}`, 0, false},
		{"below zero", `{"type":"OCIRegistry","blobLimit":-1}`, 0, true},
		{"a text", `{"type":"OCIRegistry","blobLimit":"1k"}`, 0, true},
		{"more than a number holds", `{"type":"OCIRegistry","blobLimit":1e30}`, 0, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := BlobLimit(descriptor.Typed(test.context)); got != test.want || (err != nil) != test.wrong {
				t.Errorf("%d, %v", got, err)
			}
		})
	}
}

// TestCheck: what a repository answers is what was asked for.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		reason, name, version, warning, err string
	}{
		{"the component and the version of the descriptor", "example.org/a", "1.0.0+b", "", ""},
		{"another component", "example.org/b", "1.0.0+b", "", "invalid component name: asked for example.org/b:1.0.0+b, the descriptor is of example.org/a"},
		{"another version", "example.org/a", "2.0.0", "", "invalid component version: asked for example.org/a:2.0.0, the descriptor is of version 1.0.0+b"},
		{"the tag of the version", "example.org/a", "1.0.0.build-b", "which is the tag of version 1.0.0+b: use the version", ""},
		{"a shorter version is another one", "example.org/a", "1.0.0", "", "invalid component version"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			warning, err := check(&descriptor.Descriptor{Name: "example.org/a", Version: "1.0.0+b"}, test.name, test.version)
			if !strings.Contains(warning, test.warning) || test.warning == "" && warning != "" {
				t.Errorf("warning %q", warning)
			}
			if (err != nil) != (test.err != "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestChain: the first that has it; not the second if the first is broken.
func TestChain(t *testing.T) {
	const name, version = "example.org/a", "1.0.0"
	has := func(label string) Repository {
		return Inline([]*descriptor.Descriptor{{Name: name, Version: version, Provider: descriptor.Provider{Name: label}}}, nil)
	}
	without := Inline(nil, nil)
	broken := brokenRepository{errors.New("the disk has failed")}
	for _, test := range []struct {
		reason string
		chain  []Repository
		want   string
		err    string
	}{
		{"the first of two", []Repository{has("first"), has("second")}, "first", ""},
		{"the second if the first has none", []Repository{without, has("second")}, "second", ""},
		{"none has it", []Repository{without, without}, "", `component version "example.org/a:1.0.0" not found in the inline component descriptors`},
		{"no repository", nil, "", "none is configured"},
		{"a broken repository before one with the version is an error", []Repository{broken, has("second")}, "", "the disk has failed"},
		{"a broken repository behind one with the version is not asked", []Repository{has("first"), broken}, "first", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Chain(test.chain...).Lookup(t.Context(), name, version)
			switch {
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("%v", err)
			case test.err != "" && errors.Is(err, oci.ErrNotFound) == strings.Contains(test.err, "disk"):
				t.Errorf("not found or broken: %v", err)
			case test.err == "" && (err != nil || got.Provider.Name != test.want):
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// FuzzRedact: nothing that may be a password stays.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{"https://%s@r.example.org/x", "user:%s@r.example.org", "https://u:%s@r.example.org?x=y", "r.example.org?token=%s", "https://r.example.org/#%s", "oci://a:%s@b@c/d", "u:%s@[::1]:5000/x", "https://u:%s%%zz@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, form string) {
		if strings.Count(form, "%s") != 1 || strings.ContainsAny(strings.Replace(form, "%s", "", 1), "%") {
			return
		}
		before, after, _ := strings.Cut(form, "%s")
		// It is a password behind a question mark, or before an at sign that ends a user.
		if !strings.ContainsAny(before, "?#") && (!strings.Contains(after, "@") || strings.ContainsAny(after, "?#")) {
			return
		}
		if got := Redact(fmt.Sprintf(form, "s3cr3t")); strings.Contains(got, "s3cr3t") {
			t.Errorf("%q gives %q", form, got)
		}
	})
}

// brokenRepository fails.
type brokenRepository struct{ err error }

func (b brokenRepository) Lookup(context.Context, string, string) (*Version, error) {
	return nil, b.err
}
