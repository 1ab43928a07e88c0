package watchdecoder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"
)

// largestEvent bounds the memory for an event, as the client library does.
const largestEvent = 16 << 20

// decoder reads the events of a watch.
type decoder struct {
	body   io.Closer
	lines  *bufio.Reader
	object reflect.Type
	// line is used again for the next event: decoded texts share no memory with it.
	line []byte
}

func newDecoder(body io.ReadCloser, example runtime.Object) *decoder {
	return &decoder{body: body, lines: bufio.NewReaderSize(body, 32<<10), object: reflect.TypeOf(example).Elem()}
}

// Close implements watch.Decoder.
func (d *decoder) Close() { _ = d.body.Close() } // only read from

// Decode implements watch.Decoder.
func (d *decoder) Decode() (watch.EventType, runtime.Object, error) {
	if err := d.next(); err != nil {
		return "", nil, err
	}
	object := reflect.New(d.object).Interface().(runtime.Object) // as the example is
	event := struct {
		Type   watch.EventType `json:"type"`
		Object runtime.Object  `json:"object"`
	}{Object: object}
	err := kjson.UnmarshalCaseSensitivePreserveInts(d.line, &event)
	// Whether an event is an error is known when it has been read: its object is a Status.
	if event.Type == watch.Error || err != nil && isError(d.line) {
		return d.failure()
	}
	if err != nil {
		return "", nil, fmt.Errorf("decode event: %w", err)
	}
	switch event.Type {
	case watch.Added, watch.Modified, watch.Deleted, watch.Bookmark:
	default:
		return "", nil, errors.New("decode event: unknown type")
	}
	if event.Object == nil || object.GetObjectKind().GroupVersionKind().Kind != d.object.Name() {
		return "", nil, fmt.Errorf("decode event: it has no object of kind %s", d.object.Name())
	}
	// As all decoders for typed objects do.
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return event.Type, object, nil
}

// isError reports whether the line is an event with an error.
func isError(line []byte) bool {
	var event struct {
		Type watch.EventType `json:"type"`
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(line, &event) == nil && event.Type == watch.Error
}

// failure decodes the line as an error of the API server.
func (d *decoder) failure() (watch.EventType, runtime.Object, error) {
	var event struct {
		Object metav1.Status `json:"object"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.line, &event); err != nil {
		return "", nil, fmt.Errorf("decode error event: %w", err)
	}
	return watch.Error, &event.Object, nil
}

// next reads the line of the next event: the API server writes each into one, since a line
// feed in a text is escaped.
func (d *decoder) next() error {
	d.line = d.line[:0]
	for {
		part, err := d.lines.ReadSlice('\n')
		d.line = append(d.line, part...)
		switch {
		case len(d.line) > largestEvent:
			return fmt.Errorf("decode event: it has more than %d bytes", largestEvent)
		case err == nil:
			return nil
		case errors.Is(err, io.EOF) && len(d.line) > 0:
			return io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return err // io.EOF and the errors of a connection are known to the reader of the watch
		}
	}
}
