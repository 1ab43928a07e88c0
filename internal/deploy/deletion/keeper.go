package deletion

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// keeper says who or what keeps an object that is being deleted: a finalizer, or what is
// still in a namespace.
func keeper(left *unstructured.Unstructured) string {
	if left != nil && isNamespace(left.GroupVersionKind()) {
		if content := contentOf(left); content != "" {
			return " (" + content + ")"
		}
	}
	return finalizers(left)
}

func isNamespace(kind schema.GroupVersionKind) bool {
	return kind.Group == "" && kind.Kind == "Namespace"
}

// remaining are the kinds and the finalizers that the controller of namespaces counts; the
// rest of its messages is left out.
var remaining = regexp.MustCompile(`([a-z0-9./-]+?)\.? (?:has|in) (\d+) resource instances`)

// contentOf says what is still in a namespace, as the API server counts it.
func contentOf(namespace *unstructured.Unstructured) string {
	conditions, _, err := unstructured.NestedSlice(namespace.Object, "status", "conditions")
	if err != nil {
		return ""
	}
	var problems []string
	for _, each := range conditions {
		condition, ok := each.(map[string]any)
		if !ok || condition["status"] != "True" {
			continue
		}
		message, _ := condition["message"].(string)
		what := map[any]string{"NamespaceContentRemaining": "it still has ", "NamespaceFinalizersRemaining": "finalizers to be removed: "}[condition["type"]]
		var parts []string
		for _, found := range remaining.FindAllStringSubmatch(message, 5) {
			parts = append(parts, found[1]+" ("+found[2]+")")
		}
		if what != "" && len(parts) > 0 {
			problems = append(problems, what+strings.Join(parts, ", "))
		}
	}
	return strings.Join(problems, "; ")
}
