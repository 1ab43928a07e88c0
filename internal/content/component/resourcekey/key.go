// Package resourcekey reads the keys by which DeployItems name resources of components.
package resourcekey

import (
	"encoding/base64"
	"fmt"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/descriptor"
)

// Key is what the template function getResourceKey returns, decoded.
type Key struct {
	Component struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"component"`
	Resource descriptor.Identity `json:"resource"`
}

// Parse reads the key of a resource.
func Parse(text string) (*Key, error) {
	wrong := func(why string) error {
		return fmt.Errorf("it is not a key of a resource: %s: use what the template function getResourceKey returns", why)
	}
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, wrong("it is not base64")
	}
	parsed := &Key{}
	if err := yamltext.Unmarshal(decoded, yamltext.Lenient(), parsed); err != nil {
		return nil, wrong(err.Error())
	}
	if parsed.Component.Name == "" || parsed.Component.Version == "" || parsed.Resource["name"] == "" {
		return nil, wrong("component.name, component.version and resource.name must be set")
	}
	return parsed, nil
}
