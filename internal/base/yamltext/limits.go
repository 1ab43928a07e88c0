package yamltext

import "fmt"

// Limits bound a text. A short text with aliases can stand for a document that fits
// into no memory.
type Limits struct {
	// Text is how many bytes are read.
	Text int
	// Values is how many scalars, lists and maps there may be with all aliases
	// resolved. Each costs about 250 bytes while it is read.
	Values int
	// Bytes is how much all scalars may have together with all aliases resolved.
	Bytes int
	// Depth is how deep lists and maps may be in each other.
	Depth int
	// OnlyTrue takes yes, no, on, off and the like for texts, as YAML 1.2 does.
	OnlyTrue bool
	// LastWins accepts a key that is there twice and takes the last value.
	LastWins bool
}

// DefaultLimits are far above what people write.
func DefaultLimits() Limits {
	return Limits{Text: 8 << 20, Values: 750_000, Bytes: 16 << 20, Depth: 500}
}

// Lenient are the default limits for what programs and templates write: a key that
// is there twice has its last value, as everywhere in Kubernetes.
func Lenient() Limits {
	limits := DefaultLimits()
	limits.LastWins = true
	return limits
}

// Check refuses a text that is too long, or has so many separators of values that
// already parsing it would take too much memory. Its error is an *Error.
func (l Limits) Check(text []byte) error {
	if len(text) > l.Text {
		return &Error{Reason: fmt.Sprintf("the text is longer than %d bytes", l.Text)}
	}
	if len(text) < l.Values {
		return nil
	}
	if separators(text) > l.Values {
		return &Error{Reason: fmt.Sprintf("the text has more than %d values", l.Values)}
	}
	return nil
}

// separators counts what stands before a value.
func separators(text []byte) int {
	count, lineStarts := 0, true
	for i, c := range text {
		switch c {
		case '\n':
			count++
			lineStarts = true
			continue
		case ',', ':', '[', '{':
			count++
		case ' ':
			continue
		case '-', '?':
			// A list in a list, both in one line.
			if !lineStarts && i+1 < len(text) && text[i+1] == ' ' {
				count++
			}
		}
		lineStarts = false
	}
	return count
}
