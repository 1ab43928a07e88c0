package credential

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// AddDockerConfig adds the credentials of a Docker configuration. Messages do not
// repeat what a parser says, which may quote a password.
func (s *Store) AddDockerConfig(data []byte) error {
	var config struct {
		Auths map[string]struct {
			Auth          string `json:"auth"`
			Username      string `json:"username"`
			Password      string `json:"password"`
			IdentityToken string `json:"identitytoken"`
			RegistryToken string `json:"registrytoken"`
		} `json:"auths"`
	}
	if json.Unmarshal(data, &config) != nil {
		return errors.New(`the Docker configuration is no JSON object with "auths"`)
	}
	var added []entry
	for _, key := range slices.Sorted(maps.Keys(config.Auths)) {
		auth := config.Auths[key]
		properties := Properties{}
		if auth.Auth != "" {
			username, password, err := decodeAuth(auth.Auth)
			if err != nil {
				return fmt.Errorf("the Docker configuration for %q: %w", key, err)
			}
			properties[Username], properties[Password] = username, password
		}
		for name, value := range map[string]string{
			Username: auth.Username, Password: auth.Password, IdentityToken: auth.IdentityToken, RegistryToken: auth.RegistryToken,
		} {
			if value != "" {
				properties[name] = value
			}
		}
		if len(properties) == 0 {
			continue
		}
		e := dockerEntry(key)
		if e.host == "" {
			return fmt.Errorf("the Docker configuration has the key %q, which names no host", key)
		}
		e.properties = properties
		added = append(added, e)
	}
	s.docker = append(s.docker, added...)
	return nil
}

// dockerEntry reads a key: a host, or an address whose scheme and API version do
// not count.
func dockerEntry(key string) entry {
	if _, after, found := strings.Cut(key, "://"); found {
		key = after
	}
	host, path, _ := strings.Cut(key, "/")
	path = strings.Trim(path, "/")
	if path == "v1" || path == "v2" {
		path = ""
	}
	path = strings.TrimPrefix(path, "v2/")
	e := entry{consumer: TypeOCIRegistry, path: path}
	e.host, e.port = splitHost(host)
	return e
}

func decodeAuth(auth string) (string, string, error) {
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(auth))
	if err != nil {
		return "", "", errors.New(`"auth" is not base64`)
	}
	username, password, found := strings.Cut(strings.TrimRight(string(decoded), "\x00"), ":")
	if !found {
		return "", "", errors.New(`"auth" is not base64 of user:password`)
	}
	return username, password, nil
}
