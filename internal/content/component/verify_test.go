package component

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestOnlyWhatWasVerified: after the verification neither another repository, nor an
// overwrite, nor a label leads to anything else.
func TestOnlyWhatWasVerified(t *testing.T) {
	const text = `{components: [
	  {name: example.org/shop/web, version: 1.0.0, provider: {name: p}, references: [{name: db, componentName: example.org/shop/db, version: 1.0.0}]},
	  {name: example.org/shop/db, version: 1.0.0, provider: {name: p}, resources: [{name: text, type: t, input: {type: utf8, text: CONTENT}}]},
	  {name: example.org/shop/other, version: 1.0.0, provider: {name: p}}]}`
	good, evil := newHostile(t), newHostile(t)
	good.publish(t, strings.ReplaceAll(text, "CONTENT", "good"))
	evil.publish(t, strings.ReplaceAll(text, "CONTENT", "evil"))
	db := Reference{Name: "example.org/shop/db", Version: "1.0.0"}
	for _, test := range []struct {
		reason    string
		context   descriptor.Typed
		overwrite []Overwrite
		label     string
	}{
		{"references are read from another repository", evil.context(), nil, ""},
		{"references are read from the repository of the descriptor", good.context(), nil, ""},
		{"an overwrite leads to another repository", good.context(), []Overwrite{{Source: db, Substitution: Reference{Context: evil.context()}}}, ""},
		{"an overwrite leads to another component", good.context(), []Overwrite{{Source: db, Substitution: Reference{Name: "example.org/shop/other"}}}, ""},
		{"an unsigned label is in another descriptor", good.context(), nil, `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/shop/db","version":"1.0.0","provider":"p"}}`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := NewSession(NewSharedWith(egress.Policy{AllowLoopback: true}), Options{Tenant: "shop", Default: good.context(), Overwrites: test.overwrite})
			root, err := s.Resolve(t.Context(), web)
			if err != nil {
				t.Fatal(err)
			}
			release, trust := signed(t, s, root)
			root.Signatures = []descriptor.Signature{release}
			if err := s.Verify(t.Context(), root, "release", trust); err != nil {
				t.Fatal(err)
			}
			if test.label != "" {
				root.References[0].Labels = []descriptor.Label{{Name: descriptor.NestedLabel, Value: []byte(test.label)}}
			}
			check := func(where string, resources []descriptor.Resource, read func() (string, error)) {
				text, err := read()
				if len(resources) != 1 || err != nil || text != "good" {
					t.Errorf("%s: %+v, %q, %v", where, resources, text, err)
				}
			}
			referenced, err := s.Referenced(t.Context(), root, &root.References[0], test.context)
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Closure(t.Context(), root, test.context)
			if err != nil || len(all) != 2 {
				t.Fatalf("%v, %v", all, err)
			}
			named, err := s.Resolve(t.Context(), Reference{Context: test.context, Name: db.Name, Version: db.Version})
			if err != nil {
				t.Fatal(err)
			}
			for where, version := range map[string]*repository.Version{"a reference": referenced, "the closure": all[1], "by its name": named} {
				check(where, version.Resources, func() (string, error) {
					data, _, err := s.Reader().Read(t.Context(), version, &version.Resources[0], 100)
					return string(data), err
				})
			}
			if _, err := s.Resolve(t.Context(), Reference{Name: "example.org/shop/other", Version: "1.0.0"}); !errors.Is(err, ErrUnverified) {
				t.Errorf("an unsigned component version: %v", err)
			}
		})
	}
}

// TestDefaultPolicy: without any setting nothing that a user writes leads to this
// machine, whatever kind of access it is.
func TestDefaultPolicy(t *testing.T) {
	h := newHostile(t)
	h.publish(t, strings.ReplaceAll(hostileText, "URL", h.URL))
	before := h.requests
	s := NewSession(NewShared(), Options{Default: h.context()})
	var refused *egress.Refused
	if _, err := s.Resolve(t.Context(), web); !errors.As(err, &refused) || IsTemporary(err) {
		t.Errorf("a registry: %v", err)
	}
	shared := NewShared()
	shared.S3Endpoint = h.URL
	reader := NewSession(shared, Options{}).Reader()
	for _, access := range []string{
		`{"type":"ociArtifact","imageReference":"URL/img:1"}`, `{"type":"wget","url":"URL/x"}`, `{"type":"git","repository":"URL/x.git"}`,
		`{"type":"helm","helmRepository":"URL/charts","helmChart":"a:1.0.0"}`, `{"type":"s3","bucket":"b","key":"k"}`, `{"type":"gitHub","repoUrl":"URL/a/b","commit":"0123"}`,
	} {
		t.Run(access, func(t *testing.T) {
			d, err := descriptor.Decode(fmt.Appendf(nil, `{"meta":{"schemaVersion":"v2"},"component":{"name":"example.org/a","version":"1.0.0","provider":"p","resources":[{"name":"r","type":"t","access":%s}]}}`, strings.ReplaceAll(access, "URL", h.URL)))
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = reader.Read(t.Context(), &repository.Version{Descriptor: d}, &d.Resources[0], 100)
			if !errors.As(err, &refused) || IsTemporary(err) {
				t.Errorf("%s: %v", access, err)
			}
		})
	}
	if h.requests != before {
		t.Errorf("%d requests", h.requests-before)
	}
}
