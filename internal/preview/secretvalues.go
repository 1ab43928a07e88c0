package preview

import (
	"encoding/json"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/dataflow"
)

// addImports adds what an Installation reads from Secrets and Targets.
func (s *secrets) addImports(imports dataflow.Imports) {
	for _, value := range imports.Data {
		if value.Salt == "" {
			continue
		}
		decoded, err := jsonvalue.FromJSON(value.Value.RawMessage)
		if err != nil {
			decoded = string(value.Value.RawMessage)
		}
		s.add(decoded)
	}
	for _, target := range imports.AllTargets() {
		if target.Spec.Configuration != nil {
			s.add(credentialsOf(target.Spec.Configuration.RawMessage))
		}
	}
}

// addTree adds what all Installations of a tree read.
func (s *secrets) addTree(node *plan.Node) {
	s.addImports(node.Read())
	for _, sub := range node.Nodes {
		s.addTree(sub)
	}
}

// credentialsOf is what is secret in the configuration of a Target: the users of a
// kubeconfig, and all of what is not known.
func credentialsOf(raw []byte) any {
	config, err := jsonvalue.FromJSON(raw)
	if err != nil {
		return string(raw)
	}
	known, _ := config.(map[string]any)
	if known["oidcConfig"] != nil || known["selfConfig"] != nil {
		// They name an account; its tokens are made when they are needed.
		return nil
	}
	text, ok := known["kubeconfig"].(string)
	if !ok {
		return config
	}
	var kubeconfig struct {
		Users []struct {
			User map[string]any `json:"user"`
		} `json:"users"`
	}
	if err := yamltext.Unmarshal([]byte(text), yamltext.Lenient(), &kubeconfig); err != nil || len(kubeconfig.Users) == 0 {
		return config
	}
	var users []any
	for _, user := range kubeconfig.Users {
		users = append(users, user.User)
	}
	return users
}

// addExports adds the values that an item has read from Secrets.
func (s *secrets) addExports(item *v1alpha1.DeployItemTemplate, exported any) {
	type export struct {
		Key  string `json:"key"`
		From *struct {
			Kind string `json:"kind"`
		} `json:"fromResource"`
	}
	// What manifest, kustomize and helm items have in common.
	var config struct {
		Exports struct {
			Exports []export `json:"exports"`
		} `json:"exports"`
		Older []export `json:"exportsFromManifests"`
	}
	values, ok := exported.(map[string]any)
	if !ok || item.Configuration == nil || json.Unmarshal(item.Configuration.Raw, &config) != nil {
		return
	}
	for _, entry := range append(config.Exports.Exports, config.Older...) {
		if entry.From != nil && entry.From.Kind == "Secret" {
			s.add(values[entry.Key])
		}
	}
}
