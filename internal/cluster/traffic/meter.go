package traffic

import (
	"context"
	"io"

	"go.landscaper.dev/internal/cluster/answerlimit"
)

// meter ends an answer that becomes too large. It counts the bytes after decompression.
type meter struct {
	body io.ReadCloser
	// what is measured, for messages.
	what string
	// events says that each document of the answer is measured alone, as in a watch.
	events bool
	loan   *answerlimit.Loan
	// own says that the loan ends with the answer.
	own bool
	// pace limits how fast events are read, context ends the wait for it; both are nil for other
	// answers.
	pace    *Pace
	context context.Context // that of the request, as with its body
	// failed is called for an answer that is too large; it may be nil.
	failed func(error)

	scanner answerlimit.Scanner
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
		m.err = m.pace.Keep(m.context, events, n)
	}
	if m.err != nil {
		_ = m.body.Close()
		return 0, m.err
	}
	return n, err // a reader returns io.EOF unwrapped
}

// measure books the bytes that were read, and counts the events that ended in them.
//
// An answer is booked while it is read, so that an answer which would not fit ends before it is in
// memory.
func (m *meter) measure(text []byte) (events int, err error) {
	for len(text) > 0 {
		read, ended := m.scanner.Scan(text)
		text = text[read:]
		if m.scanner.Bytes > answerlimit.MaxAnswer || m.scanner.Cost > answerlimit.MaxAnswerCost {
			return events, &answerlimit.TooLarge{What: m.what}
		}
		if err := m.loan.Grow(m.scanner.Cost - m.booked); err != nil {
			return events, err
		}
		m.booked = m.scanner.Cost
		if ended && m.events {
			m.scanner.Reset()
			m.booked = 0
			m.loan.Begin()
			events++
		}
	}
	return events, nil
}

// Close implements io.Closer.
func (m *meter) Close() error {
	if m.own {
		m.loan.End()
	}
	return m.body.Close()
}
