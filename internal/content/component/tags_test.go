package component

import (
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
)

// TestTagSources: who shares a list of versions. It is a question of access: a list is shared by those
// whose credentials are the same, wherever they have them from.
func TestTagSources(t *testing.T) {
	key := func(context, user string, tenant string) string {
		t.Helper()
		credentials := &credential.Store{}
		if user != "" {
			credentials.AddConsumer(map[string]string{"hostname": "r.example.org"}, credential.Properties{"username": user, "password": "s3cr3t"})
		}
		// Credentials for others say nothing about this registry.
		credentials.AddConsumer(map[string]string{"hostname": tenant + ".example.org"}, credential.Properties{"username": tenant, "password": "s3cr3t"})
		session := NewSession(NewSharedWith(egress.Policy{}), Options{Tenant: tenant, Default: descriptor.Typed(context), Registry: registry.Options{Credentials: credentials}})
		sources, err := session.TagSources("example.org/shop")
		if err != nil || len(sources) != 1 || strings.Contains(sources[0].Key, "s3cr3t") {
			t.Fatalf("%+v, %v", sources, err)
		}
		return sources[0].Key
	}
	const here, path, clear = `{"type":"OCIRegistry","baseUrl":"r.example.org/a"}`, `{"type":"OCIRegistry","baseUrl":"r.example.org","subPath":"a"}`, `{"type":"OCIRegistry","baseUrl":"http://r.example.org/a"}`
	mine := key(here, "ann", "one")
	for _, test := range []struct {
		reason, context, user, tenant string
		shared                        bool
	}{
		{"another namespace with the same credentials", here, "ann", "two", true},
		{"another spelling of the same repository", path, "ann", "one", true},
		{"other credentials", here, "bob", "two", false},
		{"no credentials", here, "", "one", false},
		{"a connection in clear text", clear, "ann", "one", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if shared := key(test.context, test.user, test.tenant) == mine; shared != test.shared {
				t.Errorf("shared is %t", shared)
			}
		})
	}
	for reason, test := range map[string]struct{ context, name, says string }{
		"no repository": {"", "example.org/shop", ErrNoRepository.Error()},
		"an archive":    {`{"type":"CommonTransportFormat","filePath":"a.tgz"}`, "example.org/shop", "is no registry"},
		"no component":  {here, "shop", "shop"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := NewSession(NewSharedWith(egress.Policy{}), Options{Default: descriptor.Typed(test.context)}).TagSources(test.name)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
			if reason == "no repository" && !errors.Is(err, ErrNoRepository) {
				t.Error("the cause is lost")
			}
		})
	}
}
