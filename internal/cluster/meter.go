package cluster

import (
	"context"
	"io"
)

// What values of JSON take in memory, about. The outer objects of a list become
// structs with many fields.
const (
	valueCost  = 64
	outerCost  = 512
	outerDepth = 3
)

// scanner estimates what a stream of JSON takes once it is decoded. It does not check
// that the text is JSON; what is not, fails later.
type scanner struct {
	depth           int
	inText, escaped bool
	// bytes and cost are those of the document that has begun.
	bytes, cost int64
}

// scan reads on; it stops behind the end of a document and returns how far it came.
func (s *scanner) scan(text []byte) (read int, ended bool) {
	for i, c := range text {
		s.bytes++
		s.cost++
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
			s.cost += valueCost
		case '{', '[':
			s.depth++
			s.cost += valueCost
			if c == '{' && s.depth <= outerDepth {
				s.cost += outerCost
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

func (s *scanner) reset() { s.bytes, s.cost = 0, 0 }

// meter ends an answer that becomes too large. The bytes that it sees are those
// after decompression.
type meter struct {
	body io.ReadCloser
	// what is measured, for messages.
	what string
	// events says that each document of the answer counts alone, as in a watch.
	events bool
	loan   *loan
	// own says that the loan ends with the answer.
	own bool
	// pace is how fast events are read, context what ends the wait for it; there is none
	// where no events are read.
	pace    *pace
	context context.Context // that of the request, as with its body
	// failed hears of an answer that is too large; it may be nil.
	failed func(error)

	scanner scanner
	booked  int64
	err     error
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	n, err := m.body.Read(p)
	events, tooMuch := m.measure(p[:n])
	if m.err = tooMuch; tooMuch != nil && m.failed != nil {
		m.failed(tooMuch)
	}
	if tooMuch == nil && m.pace != nil {
		m.err = m.pace.keep(m.context, events, n)
	}
	if m.err != nil {
		_ = m.body.Close()
		return 0, m.err
	}
	return n, err // a reader hands on io.EOF as it is
}

// measure books what was read, and counts the events that ended with it.
func (m *meter) measure(text []byte) (events int, err error) {
	for len(text) > 0 {
		read, ended := m.scanner.scan(text)
		text = text[read:]
		if m.scanner.bytes > maxAnswer || m.scanner.cost > maxAnswerCost {
			return events, &tooLarge{m.what}
		}
		if err := m.loan.grow(m.scanner.cost - m.booked); err != nil {
			return events, err
		}
		m.booked = m.scanner.cost
		if ended && m.events {
			m.scanner.reset()
			m.booked = 0
			m.loan.begin()
			events++
		}
	}
	return events, nil
}

// Close implements io.Closer.
func (m *meter) Close() error {
	if m.own {
		m.loan.end()
	}
	return m.body.Close()
}
