package link

import (
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Formats report whether a text has a format. These are the formats that are checked; others have
// no effect. Each accepts at least what upstream accepts.
var Formats = map[string]func(string) bool{
	"date":                  oneTime("2006-01-02"),
	"time":                  oneTime("15:04:05Z07:00", "15:04:05"),
	"date-time":             oneTime(time.RFC3339, "2006-01-02", "15:04:05Z07:00", "15:04:05"),
	"email":                 isEmail,
	"idn-email":             isEmail,
	"ipv4":                  isAddress('.'),
	"ipv6":                  isAddress(':'),
	"uri":                   isURI,
	"iri":                   isURI,
	"uri-reference":         isURIReference,
	"iri-reference":         isURIReference,
	"uri-template":          isURITemplate,
	"uuid":                  regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString,
	"regex":                 isPattern,
	"hostname":              isHostname,
	"json-pointer":          regexp.MustCompile(`^(/([^~/]|~[01])*)*$`).MatchString,
	"relative-json-pointer": regexp.MustCompile(`^(0|[1-9][0-9]*)(#|(/([^~/]|~[01])*)*)$`).MatchString,
}

// FormatPrefix keeps the names of formats apart from those of the library.
const FormatPrefix = "blueprint-"

// oneTime accepts a time in one of several layouts, with fractions of a second.
func oneTime(layouts ...string) func(string) bool {
	return func(text string) bool {
		for _, layout := range layouts {
			if _, err := time.Parse(layout, text); err == nil {
				return true
			}
		}
		return false
	}
}

// isAddress accepts an IP address that is written with the given mark. An IPv4
// address in the form of IPv6 has both.
func isAddress(mark rune) func(string) bool {
	return func(text string) bool {
		address, err := netip.ParseAddr(text)
		return err == nil && address.Zone() == "" && strings.ContainsRune(text, mark)
	}
}

func isEmail(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}

func isURI(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && parsed.Scheme != "" && !strings.Contains(text, `\`)
}

func isURIReference(text string) bool {
	_, err := url.Parse(text)
	return err == nil && !strings.Contains(text, `\`)
}

// isURITemplate demands that each opening brace of the path is closed.
func isURITemplate(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && !strings.Contains(text, `\`) && (closed(text) || closed(parsed.Path))
}

func closed(text string) bool {
	for {
		_, behind, found := strings.Cut(text, "{")
		if !found {
			return true
		}
		if _, text, found = strings.Cut(behind, "}"); !found {
			return false
		}
	}
}

var hostLabel = regexp.MustCompile(`^[0-9A-Za-z]([0-9A-Za-z-]{0,61}[0-9A-Za-z])?$`)

func isHostname(text string) bool {
	if len(text) > 255 {
		return false
	}
	for label := range strings.SplitSeq(text, ".") {
		if !hostLabel.MatchString(label) {
			return false
		}
	}
	return true
}

func isPattern(text string) bool {
	_, err := compilePattern(text)
	return err == nil
}
