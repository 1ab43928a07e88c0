package kube

import (
	"encoding/json"
	"fmt"
	"os"
)

// Access is what a kubeconfig says: where the API server is, which authority to trust that it is
// the one, and who the client is (a token, or a certificate pair).
type Access struct {
	Server  string
	CA      []byte
	Cluster string
	User    string
	Token   string
	Cert    []byte
	Key     []byte
}

// Kubeconfig renders the access with everything inlined, so that the file can
// be copied into a Secret and used from anywhere on this machine.
func (a Access) Kubeconfig() ([]byte, error) {
	user := map[string]any{}
	if a.Token != "" {
		user["token"] = a.Token
	}
	if len(a.Cert) > 0 {
		user["client-certificate-data"] = a.Cert // []byte becomes base64 in JSON
		user["client-key-data"] = a.Key
	}
	config := map[string]any{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": a.Cluster,
		"clusters": []any{map[string]any{"name": a.Cluster, "cluster": map[string]any{
			"server": a.Server, "certificate-authority-data": a.CA,
		}}},
		"users": []any{map[string]any{"name": a.User, "user": user}},
		"contexts": []any{map[string]any{"name": a.Cluster, "context": map[string]any{
			"cluster": a.Cluster, "user": a.User,
		}}},
	}
	return json.MarshalIndent(config, "", "  ") // JSON is YAML
}

// Write stores the access as a kubeconfig file.
func (a Access) Write(file string) error {
	data, err := a.Kubeconfig()
	if err != nil {
		return fmt.Errorf("encode the kubeconfig of %s: %w", a.User, err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", a.User, err)
	}
	return nil
}
