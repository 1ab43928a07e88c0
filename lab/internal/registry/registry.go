// Package registry configures the OCI registry.
package registry

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/crypto/bcrypt"
)

// Config says how the registry is to be run.
type Config struct {
	Address string
	// Directory receives the configuration and the images.
	Directory string
	// Username and Password, if set, are demanded.
	Username, Password string
	// CertFile and KeyFile, if set, make it serve TLS.
	CertFile, KeyFile string
}

// Write stores the registry's configuration and returns the file's path.
func (c Config) Write() (string, error) {
	if err := os.MkdirAll(c.Directory, 0o700); err != nil {
		return "", fmt.Errorf("make the registry's directory: %w", err)
	}
	server := map[string]any{"addr": c.Address}
	if c.CertFile != "" {
		server["tls"] = map[string]any{"certificate": c.CertFile, "key": c.KeyFile}
	}
	config := map[string]any{
		"version": "0.1",
		"log":     map[string]any{"level": "info", "accesslog": map[string]any{"disabled": false}},
		"storage": map[string]any{
			"filesystem": map[string]any{"rootdirectory": filepath.Join(c.Directory, "images")},
			"delete":     map[string]any{"enabled": true},
		},
		"http": server,
	}
	if c.Username != "" {
		users, err := c.writeUsers()
		if err != nil {
			return "", err
		}
		config["auth"] = map[string]any{"htpasswd": map[string]any{"realm": "lab", "path": users}}
	}
	content, err := json.MarshalIndent(config, "", "  ") // JSON is YAML
	if err != nil {
		return "", fmt.Errorf("encode the registry's configuration: %w", err)
	}
	return c.writeFile("config.yaml", content)
}

func (c Config) writeUsers() (string, error) {
	// The lowest cost: the registry checks the password at every request.
	hash, err := bcrypt.GenerateFromPassword([]byte(c.Password), bcrypt.MinCost)
	if err != nil {
		return "", fmt.Errorf("hash the registry's password: %w", err)
	}
	return c.writeFile("htpasswd", []byte(c.Username+":"+string(hash)+"\n"))
}

func (c Config) writeFile(name string, content []byte) (string, error) {
	file := filepath.Join(c.Directory, name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return "", fmt.Errorf("write the registry's %s: %w", name, err)
	}
	return file, nil
}
