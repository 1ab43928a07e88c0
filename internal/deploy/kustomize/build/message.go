package build

import (
	"errors"
	"maps"
	"regexp"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/resid"

	"go.landscaper.dev/internal/content/template/mask"
)

// maxMessage bounds what is repeated of the library's messages.
const maxMessage = 1000

// quoted are the parts of the library's messages that repeat what it was given, and those that say
// how it tried a directory as a file.
var quoted = regexp.MustCompile("(?s)with config: `.*?`:? ?|\\[patch: .*\\]|accumulating resources: accumulation err='[^']*'[^']*'[^']*'[^']*'': |accumulating resources: accumulation err='|': must build at directory: '[^']*': file is not directory|&\\{0x[^}]*\\}: ")

// recursed is how the library says in which kustomization something is wrong.
var recursed = regexp.MustCompile("recursed accumulation of path '([^']*)'")

// note keeps what messages must not repeat of an object, and how it may be called.
func (g *guard) note(object map[string]any) {
	rest := map[string]any{}
	for key, value := range object {
		switch key {
		case "apiVersion", "kind":
			if name, isText := value.(string); isText {
				g.names = append(g.names, name)
			}
		case "metadata":
			metadata, _ := value.(map[string]any)
			for key, value := range metadata {
				if name, isText := value.(string); isText && (key == "name" || key == "namespace") {
					g.names = append(g.names, name)
					continue
				}
				rest[key+" of the metadata"] = value
			}
		default:
			rest[key] = value
		}
	}
	g.values = append(g.values, rest)
}

// explain makes an error of the library one that can be shown: with the directories
// of the source, and without what it was given.
func (g *guard) explain(err error) error {
	text := quoted.ReplaceAllString(err.Error(), "")
	names := map[string]bool{}
	for _, name := range g.names {
		names[name] = true
	}
	text = mask.Of(without(g.values, names)).Hide(text)
	text = g.unmatched(text)
	text = g.withNames(text)
	text = recursed.ReplaceAllString(text, "kustomization of $1")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " ..."
	}
	return errors.New(text)
}

// unmatchedPatch is how the library says that a patch without a target changes an object
// that the kustomization does not have.
var unmatchedPatch = regexp.MustCompile(`no resource matches strategic merge patch "([^"]*)": no matches for Id \S*; failed to find unique target for patch \S*`)

// unmatched names the patch that changes no object, and the next step.
func (g *guard) unmatched(text string) string {
	return unmatchedPatch.ReplaceAllStringFunc(text, func(said string) string {
		id := unmatchedPatch.FindStringSubmatch(said)[1]
		place := ""
		if known := g.patched[id]; known != "" {
			place = known + ": "
		}
		object := strings.NewReplacer(".[noGrp]", "", ".[noNs]", "", ".[noVer]", "").Replace(id)
		return place + `no resource matches strategic merge patch "` + object + `": correct apiVersion, kind, name and namespace of the patch, or remove it`
	})
}

// locatePatch notes which entry of the patches changes an object. Entries of several
// kustomizations may change objects of one name: then the entry is not named.
func (g *guard) locatePatch(object map[string]any, place string) {
	text := func(from map[string]any, key string) string {
		value, _ := from[key].(string)
		return value
	}
	metadata, _ := object["metadata"].(map[string]any)
	group, version := resid.ParseGroupVersion(text(object, "apiVersion"))
	id := resid.NewResIdWithNamespace(resid.NewGvk(group, version, text(object, "kind")), text(metadata, "name"), text(metadata, "namespace")).String()
	if g.patched == nil {
		g.patched = map[string]string{}
	}
	if known, is := g.patched[id]; is && known != place {
		place = ""
	}
	g.patched[id] = place
}

// given are the names that the library knows directories and files by.
var given = regexp.MustCompile(`(?:\.\.)?/k\d+\b|\./f\d+\.yaml`)

// withNames puts the names of the source into a text, all at once: one of them may look
// like those that the library knows.
func (g *guard) withNames(text string) string {
	names := make(map[string]string, len(g.known)+len(g.placed))
	for at, found := range g.known {
		if found != nil {
			names["/"+found.id] = called(at)
		}
	}
	maps.Copy(names, g.placed)
	return given.ReplaceAllStringFunc(text, func(name string) string {
		if known, ok := names[strings.TrimPrefix(name, "..")]; ok {
			return known
		}
		return name
	})
}

// without takes names out of values: objects are identified by their names.
func without(values []any, names map[string]bool) []any {
	var rest []any
	for _, value := range values {
		switch value := value.(type) {
		case string:
			if !names[value] {
				rest = append(rest, value)
			}
		case []any:
			rest = append(rest, without(value, names))
		case map[string]any:
			all := make([]any, 0, len(value))
			for _, field := range value {
				all = append(all, field)
			}
			rest = append(rest, without(all, names))
		default:
			rest = append(rest, value)
		}
	}
	return rest
}
