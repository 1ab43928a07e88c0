package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
)

// OCMConfigType is the type of a credential configuration.
const OCMConfigType = "credentials.config.ocm.software"

// AddOCMConfig adds the credentials of an OCM credential configuration, in YAML
// or JSON, and returns warnings about parts that are passed over.
func (s *Store) AddOCMConfig(data []byte) ([]string, error) {
	raw, err := yamltext.ToJSON(data, yamltext.Lenient())
	if err != nil {
		return nil, fmt.Errorf("the OCM credential configuration is neither YAML nor JSON: %w", err)
	}
	var config struct {
		Type      string `json:"type"`
		Consumers []struct {
			Identity    map[string]string   `json:"identity"`
			Identities  []map[string]string `json:"identities"`
			Credentials []json.RawMessage   `json:"credentials"`
		} `json:"consumers"`
		Repositories []struct {
			Repository json.RawMessage `json:"repository"`
		} `json:"repositories"`
	}
	if json.Unmarshal(raw, &config) != nil {
		return nil, errors.New("the OCM credential configuration has fields of the wrong form")
	}
	if kind, _, _ := strings.Cut(config.Type, "/"); kind != OCMConfigType {
		return nil, fmt.Errorf("the OCM credential configuration has another type: use %s", OCMConfigType)
	}
	var warnings []string
	for i, consumer := range config.Consumers {
		properties, err := decodeCredentials(consumer.Credentials)
		if err != nil {
			return nil, fmt.Errorf("consumers[%d] of the OCM credential configuration: %w", i, err)
		}
		identities := consumer.Identities
		if consumer.Identity != nil {
			identities = append(identities, consumer.Identity)
		}
		for _, identity := range identities {
			if identity["hostname"] == "" && strings.EqualFold(identity["type"], TypeS3) {
				identity = maps.Clone(identity)
				identity["hostname"] = HostS3
			}
			if identity["hostname"] == "" {
				warnings = append(warnings, fmt.Sprintf("consumers[%d] of the OCM credential configuration names no hostname and is not used", i))
				continue
			}
			s.AddConsumer(identity, properties)
		}
	}
	for i, repository := range config.Repositories {
		warning, err := s.addRepository(repository.Repository)
		if err != nil {
			return nil, fmt.Errorf("repositories[%d] of the OCM credential configuration: %w", i, err)
		}
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("repositories[%d] of the OCM credential configuration: %s", i, warning))
		}
	}
	return warnings, nil
}

func decodeCredentials(list []json.RawMessage) (Properties, error) {
	all := Properties{}
	for _, raw := range list {
		var credentials struct {
			Type       string            `json:"type"`
			Properties map[string]string `json:"properties"`
		}
		if json.Unmarshal(raw, &credentials) != nil {
			return nil, errors.New("credentials have fields of the wrong form")
		}
		kind, _, _ := strings.Cut(credentials.Type, "/")
		if kind != "Credentials" && kind != "DirectCredentials" {
			// The type is in a Secret like the rest.
			return nil, errors.New("credentials have a type that is not supported: use Credentials")
		}
		for name, value := range credentials.Properties {
			all[name] = value
		}
	}
	return all, nil
}

// addRepository adds a Docker configuration. A file would be one of this process
// and not of the user who wrote the configuration.
func (s *Store) addRepository(raw json.RawMessage) (string, error) {
	var repository struct {
		Type   string          `json:"type"`
		File   string          `json:"dockerConfigFile"`
		Config json.RawMessage `json:"dockerConfig"`
	}
	if json.Unmarshal(raw, &repository) != nil {
		return "", errors.New("fields of the wrong form")
	}
	if kind, _, _ := strings.Cut(repository.Type, "/"); kind != "DockerConfig" {
		return "its type is not known and is not used: use DockerConfig", nil
	}
	if repository.File != "" {
		return "", errors.New("a dockerConfigFile is refused: put its content into dockerConfig")
	}
	config := []byte(repository.Config)
	var text string
	if json.Unmarshal(config, &text) == nil {
		config = []byte(text)
	}
	return "", s.AddDockerConfig(config)
}
