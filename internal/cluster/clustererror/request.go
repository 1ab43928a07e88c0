package clustererror

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// request is the request to a cluster whose answer is partly repeated: no value of the request may
// be repeated. A server can quote the request in its answer, and a policy can compute its message
// from the object.
type request struct {
	// resource is the resource of the request, as in its path.
	resource string
	// whole says that the request has the whole object, and that messages may be repeated without
	// its words.
	whole bool
	// values are those of the object, and words the words in them, in lower case.
	values []string
	words  map[string]struct{}
}

const (
	// maxRead is how large a request may be whose answer is quoted: each of its words is searched
	// for.
	maxRead = 1 << 20
	// distinct is the length from which a word is also found as a part of another one.
	distinct = 4
	// long is the length from which a value in a name is not a coincidence.
	long = 6
	// maxMessage is how many characters of a message are repeated.
	maxMessage = 300
)

// requestOf reads a sent request; nil if its body is not known.
func requestOf(sent *http.Request) *request {
	about := &request{words: map[string]struct{}{}, resource: resourceOf(sent)}
	about.add(strings.TrimPrefix(sent.Header.Get("Authorization"), "Bearer "))
	if sent.Body == nil || sent.Body == http.NoBody {
		return about
	}
	if sent.GetBody == nil || sent.ContentLength > maxRead {
		return nil
	}
	body, err := sent.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close() //nolint:errcheck // it is in memory
	decoder := json.NewDecoder(io.LimitReader(body, maxRead))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil
	}
	// A patch, or a deletion, does not have the other values of the object, and all of a Secret is
	// secret.
	applied := strings.HasPrefix(sent.Header.Get("Content-Type"), "application/apply-patch")
	about.whole = object["kind"] != "Secret" && (applied || sent.Method == http.MethodPost || sent.Method == http.MethodPut)
	about.addObject(object)
	return about
}

// addObject adds the values of an object. Its name and namespace are not secret: they are in each
// message, and quotas are named after namespaces.
func (r *request) addObject(object map[string]any) {
	for key, value := range object {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			metadata, _ := value.(map[string]any)
			for field, value := range metadata {
				if field != "name" && field != "namespace" && field != "managedFields" {
					r.addAll(value)
				}
			}
		default:
			r.addAll(value)
		}
	}
}

func (r *request) addAll(value any) {
	switch value := value.(type) {
	case map[string]any:
		for _, element := range value {
			r.addAll(element)
		}
	case []any:
		for _, element := range value {
			r.addAll(element)
		}
	case string:
		r.add(value)
		if decoded, err := base64.StdEncoding.DecodeString(value); err == nil && len(value) >= distinct {
			r.add(string(decoded))
		}
	case json.Number:
		r.add(value.String())
	}
}

func (r *request) add(value string) {
	if value = strings.ToLower(value); value == "" {
		return
	}
	r.values = append(r.values, value)
	for _, word := range strings.FieldsFunc(value, between) {
		r.words[word] = struct{}{}
	}
}

// between reports whether a character separates words.
func between(char rune) bool { return !unicode.IsLetter(char) && !unicode.IsDigit(char) }

// mentions reports whether a name is one of the values, or a part of one, or has one in it.
func (r *request) mentions(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(r.values, func(value string) bool {
		return value == name || len(name) >= distinct && strings.Contains(value, name) || len(value) >= long && strings.Contains(name, value)
	})
}

// has reports whether a word is one of the request, or has a distinct one in it, or is a part of
// one.
func (r *request) has(word string) bool {
	if _, is := r.words[word]; is {
		return true
	}
	if len(word) < distinct {
		return false
	}
	for known := range r.words {
		if len(known) >= distinct && strings.Contains(word, known) || strings.Contains(known, word) {
			return true
		}
	}
	return false
}

// severalLeftOut are omitted words with only punctuation between them.
var severalLeftOut = regexp.MustCompile(`…(?:[^\pL\pN…]*…)+`)

// masked returns a message in one line without the words of the request; "" if it may not
// be repeated, or if not much is left of it.
func (r *request) masked(message string) string {
	if !r.whole {
		return ""
	}
	runes := []rune(strings.ToValidUTF8(message, ""))
	cut := len(runes) > maxMessage
	runes = runes[:min(len(runes), maxMessage)]
	var line, word strings.Builder
	said, hidden := 0, 0
	end := func() {
		if word.Len() == 0 {
			return
		}
		if said++; r.has(strings.ToLower(word.String())) {
			hidden++
			line.WriteString("…")
		} else {
			line.WriteString(word.String())
		}
		word.Reset()
	}
	for _, char := range runes {
		switch {
		case !between(char):
			word.WriteRune(char)
			continue
		case unicode.IsSpace(char):
			char = ' '
		case !unicode.IsPrint(char):
			char = -1
		}
		if end(); char >= 0 {
			line.WriteRune(char)
		}
	}
	if end(); hidden*2 > said || said == 0 {
		return ""
	}
	// The number of omitted words, and the signs between them, would reveal something as well.
	result := strings.Join(strings.Fields(severalLeftOut.ReplaceAllString(line.String(), "…")), " ")
	if cut {
		result += "…"
	}
	return result
}
