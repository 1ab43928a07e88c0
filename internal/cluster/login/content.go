package login

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
)

// contentLimits bound the content of a Target and the kubeconfig in it. Both come from stored
// objects, so an API server has limited their length; aliases of YAML can still expand them.
func contentLimits() yamltext.Limits {
	return yamltext.Limits{Text: 3 << 20, Values: 50_000, Bytes: 4 << 20, Depth: 100, LastWins: true}
}

// ParseContent reads the content of a Target, which is YAML or JSON. Content without the known
// fields is a bare kubeconfig. Errors repeat nothing of the content.
//
// A kubeconfig has none of these fields, so that both forms may be written in each place.
func ParseContent(content []byte) (*v1alpha1.KubernetesClusterTargetConfig, error) {
	asJSON, err := yamltext.ToJSON(content, contentLimits())
	if err != nil {
		return nil, fmt.Errorf("the content of the target cannot be read as YAML or JSON: %w", err)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(asJSON, &fields) == nil && hasAnyField(fields, "kubeconfig", "oidcConfig", "selfConfig") {
		config := &v1alpha1.KubernetesClusterTargetConfig{}
		if err := json.Unmarshal(asJSON, config); err != nil {
			return nil, fmt.Errorf("the content of the target has a field of the wrong type: %w", typeErrorOnly(err))
		}
		return config, nil
	}
	text := string(bytes.TrimSpace(content))
	if text == "" || isNull(asJSON) {
		return &v1alpha1.KubernetesClusterTargetConfig{}, nil
	}
	return &v1alpha1.KubernetesClusterTargetConfig{Kubeconfig: v1alpha1.ValueRef{StrVal: &text}}, nil
}

func hasAnyField(fields map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if value, ok := fields[name]; ok && !isNull(value) {
			return true
		}
	}
	return false
}

func isNull(raw []byte) bool { return string(bytes.TrimSpace(raw)) == "null" }

// typeErrorOnly keeps the name of the field that has the wrong type and drops the
// value.
func typeErrorOnly(err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return yamltext.Explain(mismatch)
	}
	return errors.New("one of kubeconfig, oidcConfig and selfConfig cannot be decoded")
}

// SecretNamed returns the name of the Secret that a Target depends on, "" if there is no such
// Secret.
func SecretNamed(target *v1alpha1.Target) string {
	if target.Spec.SecretRef != nil {
		return target.Spec.SecretRef.Name
	}
	// API servers write the names of fields without escapes.
	if target.Spec.Configuration == nil || !bytes.Contains(target.Spec.Configuration.RawMessage, []byte(`"secretRef"`)) {
		return ""
	}
	config, err := ParseContent(target.Spec.Configuration.RawMessage)
	if err != nil || config.Kubeconfig.SecretRef == nil {
		return ""
	}
	return config.Kubeconfig.SecretRef.Name
}

// Refers reports whether an access depends on another object of the namespace: a Secret, or a
// ServiceAccount. Content that cannot be read gives no access.
func Refers(spec *v1alpha1.TargetSpec) bool {
	if spec.SecretRef != nil {
		return true
	}
	if spec.Configuration == nil {
		return false
	}
	config, err := ParseContent(spec.Configuration.RawMessage)
	return err == nil && (config.Kubeconfig.SecretRef != nil || config.OIDCConfig != nil || config.SelfConfig != nil)
}
