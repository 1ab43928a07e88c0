package console

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// concealer writes objects without what may be secret. The configuration of an item has what its
// blueprint has made of imports, and nothing tells there what came from a Secret. So each value of
// free-form fields is replaced by a fingerprint: with a salt of this process and with the namespace, so
// that a value cannot be guessed from it, also not by comparing with objects of one's own.
type concealer struct {
	salt      []byte
	namespace string
}

// free are the fields that have any content, by their paths. Below a list, the path goes on with its
// elements.
var free = map[string]bool{
	"spec.blueprint.inline":                          true,
	"spec.componentDescriptor.inline":                true,
	"spec.componentDescriptor.ref.repositoryContext": true,
	"spec.config":                true,
	"spec.deployItems.config":    true,
	"spec.deployItemsCompressed": true,
	"spec.importDataMappings":    true,
	"spec.exportDataMappings":    true,
	"status.providerStatus":      true,
}

// identity are the fields that name an object: messages have them, too.
var identity = map[string]bool{"apiVersion": true, "kind": true, "name": true, "namespace": true}

// contents are fields in which no object is looked for: their content may look like one.
var contents = map[string]bool{"data": true, "stringData": true, "values": true}

// secretURL are parts of an address that may be a credential.
var (
	secretUser  = regexp.MustCompile(`(://)[^/@\s]+@`)
	secretQuery = regexp.MustCompile(`(://[^\s?"']*\?)[^\s"']+`)
)

// yaml returns an object as YAML.
func (c concealer) yaml(object metav1.Object) (string, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return "", fmt.Errorf("encode it: %w", err)
	}
	var content map[string]any
	if err := json.Unmarshal(raw, &content); err != nil {
		return "", fmt.Errorf("decode it: %w", err)
	}
	c.namespace = object.GetNamespace()
	if metadata, ok := content["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			// It repeats the whole object.
			delete(annotations, corev1.LastAppliedConfigAnnotation)
		}
	}
	text, err := yaml.Marshal(c.shown(content, ""))
	if err != nil {
		return "", fmt.Errorf("write it as YAML: %w", err)
	}
	return string(text), nil
}

// shown returns a value as it is shown at a path.
func (c concealer) shown(value any, path string) any {
	if free[path] {
		return c.concealed(value, true)
	}
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			below := name
			if path != "" {
				below = path + "." + name
			}
			value[name] = c.shown(field, below)
		}
	case []any:
		for i := range value {
			value[i] = c.shown(value[i], path)
		}
	case string:
		return secretQuery.ReplaceAllString(secretUser.ReplaceAllString(value, "${1}hidden@"), "${1}hidden")
	}
	return value
}

// concealed returns a value with fingerprints in place of texts and numbers. What names an object stays,
// where objects are looked for.
func (c concealer) concealed(value any, objects bool) any {
	switch value := value.(type) {
	case nil, bool:
		return value
	case map[string]any:
		return c.concealedFields(value, objects)
	case []any:
		for i := range value {
			value[i] = c.concealed(value[i], objects)
		}
		return value
	}
	return c.fingerprint(value)
}

func (c concealer) concealedFields(fields map[string]any, objects bool) any {
	_, kind := fields["kind"].(string)
	_, version := fields["apiVersion"].(string)
	isObject := objects && kind && version
	for name, field := range fields {
		switch _, text := field.(string); {
		case isObject && identity[name] && text:
		case isObject && name == "metadata":
			fields[name] = c.concealedMetadata(field)
		default:
			fields[name] = c.concealed(field, objects && !contents[name])
		}
	}
	return fields
}

func (c concealer) concealedMetadata(value any) any {
	fields, ok := value.(map[string]any)
	if !ok {
		return c.concealed(value, false)
	}
	for name, field := range fields {
		if _, text := field.(string); text && (name == "name" || name == "namespace") {
			continue
		}
		fields[name] = c.concealed(field, false)
	}
	return fields
}

func (c concealer) fingerprint(value any) string {
	sum := hmac.New(sha256.New, c.salt)
	fmt.Fprintf(sum, "%s\x00%T\x00%v", c.namespace, value, value)
	return "(hidden, " + hex.EncodeToString(sum.Sum(nil))[:fingerprint] + ")"
}
