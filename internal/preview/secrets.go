package preview

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/maphash"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/mask"
)

const (
	// part is how long a part of a secret is that is a secret, too. Of a long one, such as
	// an address with a password in it, common words are parts as well, so longer parts count.
	part, longPart = 8, 12
	// long is the length from which longer parts count.
	long = 20
	// leastInside is the length from which a secret is looked for inside of a text. A
	// shorter one is only hidden where it is the whole text.
	leastInside = 4
	// maxKnown bounds the secrets that are looked for. With more, everything is hidden.
	maxKnown = 1 << 20
	// maxEscaped is how long a secret may be to be looked for in escaped forms as well:
	// a longer one is a certificate or a document, which is not part of a URL.
	maxEscaped = 4 << 10
)

// secrets are values that must not be shown. They are found again as a whole and in
// parts, in any case, in base64 at any place, also several times, in hexadecimal digits, and as in a URL.
// What a template has computed from one in another way cannot be known.
type secrets struct {
	whole  []any
	short  map[string]bool
	inside []string
	// plain are the parts in small letters, packed those in base64.
	plain, packed parts
	size          int
	mask          *mask.Mask
}

func newSecrets() *secrets {
	return &secrets{short: map[string]bool{}, plain: newParts(), packed: newParts()}
}

// parts are sums of parts of texts, by their lengths.
// A sum of another text may be the same by chance; then more is hidden than needed. The
// seed is a new one each time, so that a text cannot be chosen for that.
type parts struct {
	seed maphash.Seed
	sums map[int]map[uint64]bool
}

func newParts() parts {
	return parts{maphash.MakeSeed(), map[int]map[uint64]bool{part: {}, longPart: {}}}
}

// add adds all parts of a form of a secret, which is itself of a length.
func (p parts) add(form string, length int) {
	size := part
	if length >= long {
		size = longPart
	}
	for i := 0; i+size <= len(form); i++ {
		p.sums[size][maphash.String(p.seed, form[i:i+size])] = true
	}
}

// in reports whether a text has one of the parts in it.
func (p parts) in(text string) bool {
	for size, sums := range p.sums {
		for i := 0; len(sums) > 0 && i+size <= len(text); i++ {
			if sums[maphash.String(p.seed, text[i:i+size])] {
				return true
			}
		}
	}
	return false
}

// add adds a value with all that it consists of.
func (s *secrets) add(value any) {
	s.mask = nil
	s.whole = append(s.whole, value)
	s.leaves(value, leastInside)
}

// addObject adds what the data of a Secret says. They hold much that is no secret, such
// as the name of a user, so short ones count only as a whole.
func (s *secrets) addObject(object map[string]any) {
	if object["kind"] != "Secret" || object["apiVersion"] != "v1" {
		return
	}
	data, _ := object["data"].(map[string]any)
	for _, value := range data {
		text, _ := value.(string)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			s.leaves(string(decoded), part)
		}
	}
	s.leaves(object["stringData"], part)
}

func (s *secrets) leaves(value any, least int) {
	switch value := value.(type) {
	case nil, bool:
	case map[string]any:
		for _, element := range value {
			s.leaves(element, least)
		}
	case []any:
		for _, element := range value {
			s.leaves(element, least)
		}
	case float64:
		// It is shown with an exponent or without.
		s.text(strconv.FormatFloat(value, 'f', -1, 64), least)
		s.text(fmt.Sprint(value), least)
	default:
		s.text(strings.TrimSpace(fmt.Sprint(value)), least)
	}
}

func (s *secrets) text(text string, least int) {
	s.size += len(text)
	if text == "" || s.size > maxKnown {
		return
	}
	switch lower := strings.ToLower(text); {
	case lower == "true" || lower == "false" || lower == "null":
	case len(text) < least:
		s.short[lower] = true
		s.short[strings.ToLower(base64.StdEncoding.EncodeToString([]byte(text)))] = true
	case len(text) < part:
		s.inside = append(s.inside, lower)
		for _, form := range append(encodings(text), escapes(text)...) {
			s.inside = append(s.inside, strings.ToLower(form))
		}
	default:
		s.plain.add(lower, len(text))
		if len(text) <= maxEscaped {
			for _, form := range escapes(text) {
				s.plain.add(strings.ToLower(form), len(text))
			}
		}
		for _, encoded := range encodings(text) {
			s.packed.add(encoded, len(text))
		}
	}
}

// escapes are the forms of a text in digits and in a URL.
func escapes(text string) []string {
	return []string{hex.EncodeToString([]byte(text)), url.QueryEscape(text), url.PathEscape(text)}
}

// encodings are what base64 of a longer text has in it, for each place that a part can
// have there. The first and the last characters depend on what is around it.
func encodings(text string) []string {
	all := make([]string, 0, 3)
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + text))
		all = append(all, encoded[(before*8+5)/6:(before+len(text))*8/6])
	}
	return all
}

// repeats reports whether a text has a secret in it, or a part of one, or base64 of a text that has.
func (s *secrets) repeats(text string) bool { return s.repeatsWithin(text, maxUnpacked-1) }

func (s *secrets) repeatsWithin(text string, layers int) bool {
	lower := strings.ToLower(strings.TrimSpace(text))
	packed := strings.NewReplacer("-", "+", "_", "/").Replace(text)
	lowerPacked := strings.ToLower(packed)
	if s.size > maxKnown || s.short[lower] || slices.ContainsFunc(s.inside, func(secret string) bool {
		return strings.Contains(lower, secret) || strings.Contains(lowerPacked, secret)
	}) {
		return true
	}
	if s.plain.in(lower) || s.packed.in(packed) {
		return true
	}
	return layers > 0 && s.size > 0 && slices.ContainsFunc(unpacked(packed), func(inner string) bool { return s.repeatsWithin(inner, layers-1) })
}

// hide returns a text without secrets: without their words where that is enough, else
// without all of it.
func (s *secrets) hide(text string) string {
	if !s.repeats(text) {
		return text
	}
	if s.mask == nil {
		s.mask = mask.Of(s.whole)
	}
	if masked := s.mask.Hide(text); !s.repeats(masked) {
		return masked
	}
	return mask.Hidden
}

// conceal takes secrets out of an error.
func (s *secrets) conceal(err error) error {
	if err == nil {
		return nil
	}
	if text := s.hide(err.Error()); text != err.Error() {
		return &concealed{text: text, cause: err}
	}
	return err
}

// concealed is an error that says less than its cause.
type concealed struct {
	text  string
	cause error
}

// Error implements error.
func (c *concealed) Error() string { return c.text }

// Unwrap gives those who choose what to do the cause.
func (c *concealed) Unwrap() error { return c.cause }
