package repositories

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// inlineDockerConfigs puts the Docker configurations that an OCM configuration
// names into it. The library reads no files: on a server they would be those of
// the server. Here they are those of the user.
func inlineDockerConfigs(text []byte, home string) ([]byte, error) {
	var config any
	if yaml.Unmarshal(text, &config) != nil {
		// What is wrong may be beside a password.
		return nil, errors.New("the OCM configuration is neither YAML nor JSON")
	}
	changed, err := inlineIn(config, home)
	if err != nil || !changed {
		return text, err
	}
	return yaml.Marshal(config)
}

func inlineIn(value any, home string) (bool, error) {
	changed := false
	children := []any{}
	switch value := value.(type) {
	case []any:
		children = value
	case map[string]any:
		if name, _ := value["dockerConfigFile"].(string); name != "" {
			if rest, found := strings.CutPrefix(name, "~/"); found {
				name = filepath.Join(home, rest)
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return false, fmt.Errorf("dockerConfigFile: %w", err)
			}
			delete(value, "dockerConfigFile")
			value["dockerConfig"] = string(content)
			changed = true
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			children = append(children, value[name])
		}
	}
	for _, child := range children {
		inner, err := inlineIn(child, home)
		if err != nil {
			return false, err
		}
		changed = changed || inner
	}
	return changed, nil
}
