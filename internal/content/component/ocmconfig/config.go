// Package ocmconfig reads OCM configurations: further repositories of component
// versions, and credentials.
package ocmconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
)

const (
	genericType     = "generic.config.ocm.software"
	ocmType         = "ocm.config.ocm.software"
	defaultPriority = 10
	maxDepth        = 16
)

// Resolver is a repository for components whose name begins with a prefix.
type Resolver struct {
	Repository descriptor.Typed
	Prefix     string
	Priority   int
}

// Config is what an OCM configuration says.
type Config struct {
	// Resolvers are in the order in which they are asked.
	Resolvers []Resolver
	// Credentials are those in the configuration.
	Credentials *credential.Store
	// Warnings say what is passed over.
	Warnings []string
}

// Parse reads a configuration in YAML or JSON. An empty one says nothing.
func Parse(data []byte) (*Config, error) {
	config := &Config{Credentials: &credential.Store{}}
	if strings.TrimSpace(string(data)) == "" {
		return config, nil
	}
	raw, err := yamltext.ToJSON(data, yamltext.Lenient())
	if err != nil {
		return nil, fmt.Errorf("the OCM configuration is neither YAML nor JSON: %w", err)
	}
	if err := config.add(raw, 0); err != nil {
		return nil, err
	}
	slices.SortStableFunc(config.Resolvers, func(a, b Resolver) int {
		if a.Priority != b.Priority {
			return b.Priority - a.Priority
		}
		return len(b.Prefix) - len(a.Prefix)
	})
	return config, nil
}

func (c *Config) add(raw json.RawMessage, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the OCM configuration is nested deeper than %d levels", maxDepth)
	}
	switch kind := descriptor.Typed(raw).Kind(); kind {
	case genericType:
		var generic struct {
			Configurations []json.RawMessage `json:"configurations"`
		}
		if json.Unmarshal(raw, &generic) != nil {
			return fmt.Errorf("the OCM configuration of type %s has fields of the wrong form", kind)
		}
		for _, configuration := range generic.Configurations {
			if err := c.add(configuration, depth+1); err != nil {
				return err
			}
		}
	case ocmType:
		return c.addResolvers(raw)
	case credential.OCMConfigType:
		warnings, err := c.Credentials.AddOCMConfig(raw)
		if err != nil {
			return fmt.Errorf("the OCM configuration: %w", err)
		}
		c.Warnings = append(c.Warnings, warnings...)
	case "":
		return errors.New("the OCM configuration has no type: set type to generic.config.ocm.software/v1")
	default:
		// An unknown value may be a secret, and is not repeated.
		c.Warnings = append(c.Warnings, fmt.Sprintf("the OCM configuration has a part of another type than %s and %s, which is not used", ocmType, credential.OCMConfigType))
	}
	return nil
}

func (c *Config) addResolvers(raw json.RawMessage) error {
	var config struct {
		Aliases   map[string]descriptor.Typed `json:"aliases"`
		Resolvers []struct {
			Repository json.RawMessage `json:"repository"`
			Prefix     string          `json:"prefix"`
			Priority   *int            `json:"priority"`
		} `json:"resolvers"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return fmt.Errorf("the OCM configuration of type %s has fields of the wrong form", ocmType)
	}
	for i, resolver := range config.Resolvers {
		repository := descriptor.Typed(resolver.Repository)
		var alias string
		if json.Unmarshal(resolver.Repository, &alias) == nil {
			repository = config.Aliases[alias]
		}
		if repository.Type() == "" {
			return fmt.Errorf("resolvers[%d] of the OCM configuration names no repository with a type", i)
		}
		priority := defaultPriority
		if resolver.Priority != nil {
			priority = *resolver.Priority
		}
		c.Resolvers = append(c.Resolvers, Resolver{Repository: repository, Prefix: strings.Trim(resolver.Prefix, "/"), Priority: priority})
	}
	return nil
}

// Repositories returns the repositories for a component, in the order in which
// they are asked.
func (c *Config) Repositories(component string) []descriptor.Typed {
	if c == nil {
		return nil
	}
	var repositories []descriptor.Typed
	for _, resolver := range c.Resolvers {
		if resolver.Prefix == "" || component == resolver.Prefix || strings.HasPrefix(component, resolver.Prefix+"/") {
			repositories = append(repositories, resolver.Repository)
		}
	}
	return repositories
}
