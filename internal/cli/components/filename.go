package components

import (
	"fmt"
	"strings"
)

// defaultFile makes the name of a file from that of a resource, which its vendor has
// chosen.
func defaultFile(resource, mediaType string, extracted bool) (string, error) {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.', r == '+':
			return r
		}
		return '_'
	}, resource)
	name = strings.TrimLeft(name, ".-")
	if name == "" {
		return "", fmt.Errorf("the name %q of the resource cannot be that of a file: name one with --output-file", resource)
	}
	suffix := suffixOf(mediaType)
	if extracted || strings.HasSuffix(name, suffix) {
		return name, nil
	}
	return name + suffix, nil
}

func suffixOf(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	for _, known := range []struct{ end, suffix string }{
		{"tar+gzip", ".tgz"}, {"x-tgz", ".tgz"}, {"x-tar", ".tar"}, {"+tar", ".tar"}, {".tar", ".tar"},
		{"json", ".json"}, {"yaml", ".yaml"}, {"text/plain", ".txt"}, {"+gzip", ".gz"}, {"application/gzip", ".gz"}, {"zip", ".zip"},
	} {
		if strings.HasSuffix(mediaType, known.end) {
			return known.suffix
		}
	}
	return ""
}
