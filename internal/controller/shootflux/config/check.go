package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/Masterminds/semver/v3"
	"github.com/distribution/reference"
	"k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
)

// What both styles say about a field.
const (
	missing       = "is missing"
	needLabel     = "is not a name of a namespace: use at most 63 lower-case letters, digits and '-'"
	needSubdomain = "is not a name of an object: use at most 253 lower-case letters, digits, '-' and '.'"
	needDuration  = "is not an interval: write it like 30s, 5m or 1h30m"
	needSyncMode  = "must be one of Once, ManifestsOnly, Always"
	needDeletion  = "must be one of Orphan, Delete"
	needRevision  = "is not a name that Git allows for it"
	needPath      = "must be a directory of the source, without '..' and line breaks: write it like ./ or clusters/prod"
	needRegistry  = "is not a prefix of images: write it like registry.example.org/fluxcd, without scheme, tag and closing slash"
)

// flux writes intervals in a subset of what Go reads.
var duration = regexp.MustCompile(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

func isDuration(text string) bool {
	length, err := time.ParseDuration(text)
	return err == nil && length > 0 && duration.MatchString(text)
}

func isLabel(text string) bool { return len(validation.IsDNS1123Label(text)) == 0 }

func isSubdomain(text string) bool { return len(validation.IsDNS1123Subdomain(text)) == 0 }

// isRevision says whether Git takes a text as the name of a branch or tag.
func isRevision(text string) bool {
	if text == "" || strings.ContainsAny(text, " ~^:?*[\\") || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	for _, part := range strings.Split(text, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return text[0] != '-' && !strings.HasSuffix(text, ".") && !strings.Contains(text, "..") && !strings.Contains(text, "@{")
}

var commit = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

func isRange(text string) bool {
	_, err := semver.NewConstraint(text)
	return err == nil
}

// isPath says whether a text is a directory inside of a source.
func isPath(text string) bool {
	return !slices.Contains(strings.Split(text, "/"), "..") && !strings.ContainsFunc(text, unicode.IsControl)
}

func isRegistry(text string) bool {
	named, err := reference.ParseNamed(text + "/" + required[0])
	return err == nil && reference.IsNameOnly(named)
}

// checkComponents returns the list in the order of Flux, each component once.
func checkComponents(list []string, field string, p *problems) []string {
	if len(list) == 0 {
		return slices.Clone(standard)
	}
	known := true
	for _, name := range list {
		if slices.Contains(components, name) {
			continue
		}
		known = false
		if meant := suggest.Name(name, components); meant != "" {
			p.add(field, "has a component that Flux does not have: did you mean %s?", meant)
		} else {
			p.add(field, "has a component that Flux does not have: choose from %s", strings.Join(components, ", "))
		}
	}
	for _, name := range required {
		if known && !slices.Contains(list, name) {
			p.add(field, "lacks the component %s: nothing is deployed without it", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(components), func(name string) bool { return !slices.Contains(list, name) })
}

// checkGit returns the address of a repository as Flux takes it.
func checkGit(text, field string, p *problems) *giturl.URL {
	parsed, err := giturl.Parse(text)
	if err != nil {
		p.add(field, "%v", err)
		return nil
	}
	return parsed
}

// checkKnownHosts requires valid host keys, with one for the repository.
func checkKnownHosts(text string, repository *giturl.URL, field string, p *problems) {
	if text == "" || repository == nil {
		return
	}
	if err := sshkey.CheckKnownHosts(text, repository); err != nil {
		p.add(field, "%v", err)
	}
}

func isQualified(text string) bool { return len(validation.IsQualifiedName(text)) == 0 }

// at names an element of a list.
func at(list string, index int, field string) string {
	return list + "[" + strconv.Itoa(index) + "]" + field
}
