package chart

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/resourcekey"
)

var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocumented reads the examples of the page: one of each source, and a Context.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/reference/helm-charts.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, match := range example.FindAllStringSubmatch(string(page), -1) {
		if strings.Contains(match[1], "kind: Context") {
			checkContext(t, match[1])
			continue
		}
		var item struct {
			Chart helmv1alpha1.Chart `json:"chart"`
		}
		if err := yaml.UnmarshalStrict([]byte(match[1]), &item); err != nil {
			t.Fatalf("%v:\n%s", err, match[1])
		}
		kind, err := kindOf(&item.Chart)
		if err != nil {
			t.Errorf("%v:\n%s", err, match[1])
		}
		seen[kind.field] = true
		if item.Chart.Ref != "" {
			if _, err := parseReference(item.Chart.Ref); err != nil {
				t.Error(err)
			}
		}
		if item.Chart.ResourceRef != "" {
			if _, err := resourcekey.Parse(item.Chart.ResourceRef); err != nil {
				t.Error(err)
			}
		}
	}
	for _, kind := range kinds() {
		if !seen[kind.field] {
			t.Errorf("no example of %s", kind.field)
		}
	}
}

func checkContext(t *testing.T, text string) {
	t.Helper()
	landscape := &v1alpha1.Context{}
	if err := yaml.UnmarshalStrict([]byte(text), landscape); err != nil {
		t.Fatal(err)
	}
	var credentials helmv1alpha1.ChartRepoCredentials
	if err := yaml.UnmarshalStrict(landscape.Configurations[credentialsKey].RawMessage, &credentials); err != nil || len(credentials.Auths) != 2 {
		t.Fatalf("%+v, %v", credentials, err)
	}
	for _, auth := range credentials.Auths {
		if _, err := identityOf(auth.URL); err != nil {
			t.Error(err)
		}
		if auth.AuthHeader == "" {
			continue
		}
		if _, _, err := basicAuth(auth.AuthHeader); err != nil {
			t.Error(err)
		}
	}
}
