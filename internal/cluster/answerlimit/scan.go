package answerlimit

// Estimates of the memory that values of JSON take. The outer objects of a list become structs with
// many fields.
const (
	valueCost  = 64
	outerCost  = 512
	outerDepth = 3
)

// Scanner estimates what a stream of JSON takes once it is decoded. It does not check that the text
// is JSON; invalid text fails in the decoder.
type Scanner struct {
	depth           int
	inText, escaped bool
	// Bytes and cost are those of the current document.
	Bytes, Cost int64
}

// Scan reads further text; it stops after the end of a document and returns how many bytes it has
// read.
func (s *Scanner) Scan(text []byte) (read int, ended bool) {
	for i, c := range text {
		s.Bytes++
		s.Cost++
		if s.inText {
			switch {
			case s.escaped:
				s.escaped = false
			case c == '\\':
				s.escaped = true
			case c == '"':
				s.inText = false
			}
			continue
		}
		switch c {
		case '"':
			s.inText = true
		case ',', ':':
			s.Cost += valueCost
		case '{', '[':
			s.depth++
			s.Cost += valueCost
			if c == '{' && s.depth <= outerDepth {
				s.Cost += outerCost
			}
		case '}', ']':
			if s.depth--; s.depth <= 0 {
				s.depth = 0
				return i + 1, true
			}
		}
	}
	return len(text), false
}

// Exceeds reports whether a text of one document takes more memory than a limit once it is decoded.
func (s *Scanner) Exceeds(text []byte, limit int64) bool {
	const step = 64 << 10
	for len(text) > 0 && s.Cost <= limit {
		chunk := text[:min(step, len(text))]
		read, ended := s.Scan(chunk)
		if ended {
			// What follows does not belong to the document, and is refused by the decoder.
			return s.Cost > limit
		}
		text = text[read:]
	}
	return s.Cost > limit
}

// Reset begins with a new document.
func (s *Scanner) Reset() { s.Bytes, s.Cost = 0, 0 }
