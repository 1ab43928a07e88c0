package sandbox

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// kind says what a message is.
type kind uint8

const (
	// ready is the first message of a process: how it is confined.
	ready kind = iota + 1
	// work begins a work, and answer answers a question.
	work
	answer
	// at says what the work is at; the first one, without words, that the process has taken the work.
	at
	// question asks the server, done has the result, exceeded says that it is too long, and broken
	// that the work panicked.
	question
	done
	exceeded
	broken
)

// message is what goes over the pipe.
type message struct {
	Kind kind `cbor:"1,keyasint"`
	// Name is that of the operation.
	Name string `cbor:"2,keyasint,omitempty"`
	// Body follows the other fields as it is, so that a large one is not copied.
	Body []byte `cbor:"-"`
	// Failed says that there is no result, and the body why. Detail says how the process is
	// confined, what the work is at, and what panicked.
	Failed bool   `cbor:"4,keyasint,omitempty"`
	Detail string `cbor:"5,keyasint,omitempty"`
	// Memory is how much memory the process keeps for its heap.
	Memory uint64 `cbor:"6,keyasint,omitempty"`
}

// maxNesting is how deep values may be nested; decoders of JSON go as deep.
const maxNesting = 10_100

var (
	encoding = mustEncoding()
	decoding = mustDecoding()
)

// numbers keeps integers of more than 64 bits apart from texts.
func numbers() cbor.TagSet {
	const tag = 65_400 // not assigned to anybody
	set := cbor.NewTagSet()
	if err := set.Add(cbor.TagOptions{EncTag: cbor.EncTagRequired, DecTag: cbor.DecTagRequired}, reflect.TypeFor[json.Number](), tag); err != nil {
		panic(err)
	}
	return set
}

func mustEncoding() cbor.EncMode {
	mode, err := cbor.EncOptions{Sort: cbor.SortNone, NilContainers: cbor.NilContainerAsNull}.EncModeWithTags(numbers())
	if err != nil {
		panic(err)
	}
	return mode
}

func mustDecoding() cbor.DecMode {
	const most = 1<<31 - 1 // the length of the message is bounded instead
	mode, err := cbor.DecOptions{
		MaxNestedLevels: maxNesting, MaxArrayElements: most, MaxMapPairs: most, IntDec: cbor.IntDecConvertSignedOrFail,
		DefaultMapType: reflect.TypeFor[map[string]any](), UTF8: cbor.UTF8DecodeInvalid, IndefLength: cbor.IndefLengthForbidden,
	}.DecModeWithTags(numbers())
	if err != nil {
		panic(err)
	}
	return mode
}

// Encode returns a value as it goes over the pipe. Plain values keep their types.
func Encode(value any) ([]byte, error) {
	raw, err := encoding.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %T for another process: %w", value, err)
	}
	return raw, nil
}

// Decode reads what Encode returned.
func Decode(raw []byte, into any) error {
	if err := decoding.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode %T of another process: %w", into, err)
	}
	return nil
}

// errTooLong is behind errors about messages that are longer than they may be.
var errTooLong = errors.New("the message is longer than it may be")

// maxValues bounds how many values a message of a process has: an empty list is one byte of it, and
// 40 bytes of the server's memory. A process may have one list that is shared a million times.
const maxValues = 1_000_000

// errTooManyValues says that they are more.
var errTooManyValues = fmt.Errorf("the message has more than %d values", maxValues)

// tooManyValues reports whether a message has too many values, without decoding it.
func tooManyValues(raw []byte) bool {
	for count := 1; len(raw) > 0; count++ {
		if count > maxValues {
			return true
		}
		kind, argument := raw[0]>>5, uint64(raw[0]&0x1f)
		raw = raw[1:]
		if argument >= 24 {
			var long [8]byte
			length := 1 << (argument - 24)
			if length > len(long) || length > len(raw) {
				return false // not complete, or of a length that is not said: it is not decoded
			}
			copy(long[len(long)-length:], raw)
			argument, raw = binary.BigEndian.Uint64(long[:]), raw[length:]
		}
		if kind == bytesKind || kind == textKind {
			raw = raw[min(argument, uint64(len(raw))):]
		}
	}
	return false
}

// Kinds of values that are followed by as many bytes as they say; all others are followed by other
// values, or by none.
const (
	bytesKind = 2
	textKind  = 3
)

// maxHeader bounds what a message has besides its body.
const maxHeader = 64 << 10

// send writes a message.
func send(to io.Writer, m *message) error {
	header, err := Encode(m)
	if err != nil {
		return err
	}
	if len(header) > maxHeader || len(m.Body) > maxMessage {
		return errTooLong
	}
	var lengths [8]byte
	binary.BigEndian.PutUint32(lengths[:4], uint32(len(header))) //nolint:gosec // bounded above
	binary.BigEndian.PutUint32(lengths[4:], uint32(len(m.Body))) //nolint:gosec // bounded above
	// Two writes: together, a large body would be copied.
	if _, err := to.Write(append(lengths[:], header...)); err != nil {
		return fmt.Errorf("write to another process: %w", err)
	}
	if len(m.Body) == 0 {
		return nil
	}
	if _, err := to.Write(m.Body); err != nil {
		return fmt.Errorf("write to another process: %w", err)
	}
	return nil
}

// receive reads a message.
func receive(from io.Reader) (*message, error) {
	var lengths [8]byte
	if _, err := io.ReadFull(from, lengths[:]); err != nil {
		return nil, fmt.Errorf("read from another process: %w", err)
	}
	header, body := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
	if header > maxHeader || body > maxMessage {
		return nil, errTooLong
	}
	raw := make([]byte, header)
	if _, err := io.ReadFull(from, raw); err != nil {
		return nil, fmt.Errorf("read from another process: %w", err)
	}
	m := &message{Body: make([]byte, body)}
	if _, err := io.ReadFull(from, m.Body); err != nil {
		return nil, fmt.Errorf("read from another process: %w", err)
	}
	return m, Decode(raw, m)
}
