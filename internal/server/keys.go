package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/suggest"
)

// withoutEffect are keys of the published kind that have no meaning here, and why. An
// asterisk is any key.
var withoutEffect = []struct{ path, why string }{
	{"blueprintStore", "blueprints are cached in memory"},
	{"controllers.*.cacheSyncTimeout", "/readyz tells which caches are not filled"},
	{"controllers.componentOverwrites", "a ComponentVersionOverwrites object is read when a Context names it"},
	{"controllers.syncPeriod", "changes are watched"},
	{"crdManagement", "\"landscaper install\" installs the CRDs"},
	{"deployItemTimeouts.abort", "an item that is interrupted ends at once"},
	{"deployItemTimeouts.progressingDefault", "spec.timeout of an item limits its time"},
	{"deployerManagement", "the deployers run in this process: choose them with --controllers"},
	{"hpaMain", "one replica works, and the others wait for its lease"},
	{"lsDeployments.additionalDeployments", "the LsHealthCheck reports the health of this process"},
	{"lsDeployments.lsController", "the LsHealthCheck reports the health of this process"},
	{"lsDeployments.lsMainController", "the LsHealthCheck reports the health of this process"},
	{"lsDeployments.webHook", "there is no webhook: admission policies check objects"},
	{"registries", "use registry.oci.configFiles for credentials"},
	{"registry.oci.cache", "contents are cached in memory"},
}

// restricting are the keys that restrict something: if such a key is misspelt, more is allowed than
// intended.
var restricting = []string{
	"console", "deployers", "disabledTemplateFunctions", "egress", "importNamespaces", "metrics.open", "namespaces",
	"registry", "signatureVerification", "signatureVerificationEnforcementPolicy",
}

// judgeKeys returns warnings about the keys of a file that have no effect, and an error about those
// that must have one.
func judgeKeys(keys map[string]any) ([]string, error) {
	var warnings []string
	var errs []error
	known := knownPaths(reflect.TypeFor[file](), "")
	for _, key := range unknownKeys(keys, reflect.TypeFor[file](), "") {
		if why := legacy(key.path); why != "" {
			warnings = append(warnings, fmt.Sprintf("%s has no effect: %s", key.path, why))
			continue
		}
		meant := key.meant(known)
		hint := ""
		if meant != "" {
			hint = ": did you mean " + meant + "?"
		}
		if isRestricting(key.path) || isRestricting(meant) {
			errs = append(errs, fmt.Errorf("%s is not a key of the configuration%s", key.path, hint))
			continue
		}
		warnings = append(warnings, fmt.Sprintf("%s has no effect, since it is not a key of the configuration%s", key.path, hint))
	}
	return warnings, errors.Join(errs...)
}

// legacy says why a key of the published kind has no effect; "" for other keys.
func legacy(path string) string {
	parts := strings.Split(path, ".")
	for _, key := range withoutEffect {
		want := strings.Split(key.path, ".")
		if slices.EqualFunc(want, parts, func(want, part string) bool { return want == "*" || want == part }) {
			return key.why
		}
	}
	return ""
}

func isRestricting(path string) bool {
	return slices.ContainsFunc(restricting, func(key string) bool {
		rest, found := strings.CutPrefix(path, key)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// unknownKey is a key of a file that its type does not have.
type unknownKey struct {
	path string
	// parent is the path of the map that it is in, with a dot at its end, and siblings are
	// the keys that this may have.
	parent, name string
	siblings     []string
}

// meant returns the path of the key that was probably meant; "" if no key is similar. A key may
// also be in the wrong map.
func (k unknownKey) meant(known []string) string {
	if near := suggest.Name(k.name, k.siblings); near != "" {
		return k.parent + near
	}
	for _, path := range known {
		if strings.EqualFold(path[strings.LastIndex(path, ".")+1:], k.name) {
			return path
		}
	}
	return ""
}

// unknownKeys are the keys of a value that a type does not have, in order.
func unknownKeys(value any, of reflect.Type, parent string) []unknownKey {
	var found []unknownKey
	switch content := value.(type) {
	case map[string]any:
		fields := fieldsOf(of)
		for _, name := range slices.Sorted(maps.Keys(content)) {
			into, ok := fields[name]
			switch {
			case ok:
				found = append(found, unknownKeys(content[name], into, parent+name+".")...)
			case of.Kind() == reflect.Map:
				found = append(found, unknownKeys(content[name], bare(of.Elem()), parent+name+".")...)
			case fields != nil:
				found = append(found, unknownKey{path: parent + name, parent: parent, name: name, siblings: slices.Sorted(maps.Keys(fields))})
			}
		}
	case []any:
		if of.Kind() != reflect.Slice {
			return nil
		}
		for i := range content {
			at := fmt.Sprintf("%s[%d].", strings.TrimSuffix(parent, "."), i)
			found = append(found, unknownKeys(content[i], bare(of.Elem()), at)...)
		}
	}
	return found
}

// knownPaths are the paths of all keys that a type has, in order.
func knownPaths(of reflect.Type, parent string) []string {
	var paths []string
	fields := fieldsOf(of)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		paths = append(paths, parent+name)
		paths = append(paths, knownPaths(fields[name], parent+name+".")...)
	}
	return paths
}

// fieldsOf are the keys of a struct with their types; nil for a type without keys, or with a
// decoder of its own.
func fieldsOf(of reflect.Type) map[string]reflect.Type {
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(bare(field.Type)))
		case name != "":
			fields[name] = bare(field.Type)
		}
	}
	return fields
}

// bare returns a type without its pointer.
func bare(of reflect.Type) reflect.Type {
	if of.Kind() == reflect.Pointer {
		return of.Elem()
	}
	return of
}
