package credential

import "fmt"

// Keys of a Secret with credentials.
const (
	DockerConfigKey = ".dockerconfigjson"
	OCMConfigKey    = ".ocmcredentialconfig"
)

// AddSecret adds the credentials in the data of a Secret, and returns warnings
// about what is not used.
func (s *Store) AddSecret(name string, data map[string][]byte) ([]string, error) {
	docker, hasDocker := data[DockerConfigKey]
	ocm, hasOCM := data[OCMConfigKey]
	if !hasDocker && !hasOCM {
		return []string{fmt.Sprintf("Secret %s has neither the key %s nor %s and is not used", name, DockerConfigKey, OCMConfigKey)}, nil
	}
	if hasDocker {
		if err := s.AddDockerConfig(docker); err != nil {
			return nil, fmt.Errorf("key %s of Secret %s: %w", DockerConfigKey, name, err)
		}
	}
	if !hasOCM {
		return nil, nil
	}
	warnings, err := s.AddOCMConfig(ocm)
	if err != nil {
		return nil, fmt.Errorf("key %s of Secret %s: %w", OCMConfigKey, name, err)
	}
	return warnings, nil
}
