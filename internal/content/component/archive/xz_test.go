package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ulikunitz/xz"
)

// xzBlock is how many bytes of the content are in one block.
const xzBlock = 100_000

// xzOf compresses a content in blocks, and may change the header of each.
func xzOf(t *testing.T, content []byte, config xz.WriterConfig, change func(block int, header []byte)) []byte {
	t.Helper()
	var out bytes.Buffer
	config.DictCap, config.BlockSize = 1<<20, xzBlock
	writer, err := config.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	packed := out.Bytes()
	// The library gives all blocks the same header.
	header := bytes.Clone(packed[12:24])
	for block, at := 0, 12; change != nil; block++ {
		found := bytes.Index(packed[at:], header)
		if found < 0 {
			break
		}
		at += found
		change(block, packed[at:at+8])
		binary.LittleEndian.PutUint32(packed[at+8:], crc32.ChecksumIEEE(packed[at:at+8]))
		at += 12
	}
	return packed
}

// TestXZ: what is looked at before is decompressed as it is.
func TestXZ(t *testing.T) {
	random := make([]byte, 3*xzBlock/2)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	for _, test := range []struct {
		reason  string
		content []byte
		config  xz.WriterConfig
	}{
		{"nothing", nil, xz.WriterConfig{}},
		{"one block", []byte("hello"), xz.WriterConfig{}},
		{"several blocks, with the longest sum", make([]byte, 3*xzBlock), xz.WriterConfig{CheckSum: xz.SHA256}},
		{"blocks without a sum", make([]byte, 2*xzBlock), xz.WriterConfig{NoCheckSum: true}},
		{"what cannot be compressed, in several chunks", random, xz.WriterConfig{CheckSum: xz.CRC32}},
		{"both", append(bytes.Clone(random), make([]byte, 2*xzBlock+1)...), xz.WriterConfig{CheckSum: xz.CRC64}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := inflated(xzOf(t, test.content, test.config, nil))
			if err != nil || !bytes.Equal(got, test.content) {
				t.Errorf("%d bytes of %d: %v", len(got), len(test.content), err)
			}
		})
	}
}

// TestGreedyXZ: each block asks for memory of its own, which the library reserves.
func TestGreedyXZ(t *testing.T) {
	const filter, memory = 2, 4
	for _, test := range []struct {
		reason string
		change func(block int, header []byte)
	}{
		{"the first block", func(block int, header []byte) {
			if block == 0 {
				header[memory] = 29
			}
		}},
		{"a later block", func(block int, header []byte) {
			if block == 2 {
				header[memory] = 29
			}
		}},
		{"another filter", func(_ int, header []byte) { header[filter] = 3 }},
		{"two filters", func(_ int, header []byte) { header[1] = 1 }},
		{"a size that looks like the filter", func(_ int, header []byte) {
			copy(header[1:], []byte{0x40, 0x21, 0x21, 0x01, 29})
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := inflated(xzOf(t, make([]byte, 3*xzBlock), xz.WriterConfig{}, test.change)); err == nil || !strings.Contains(err.Error(), "64 MiB of memory") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestManySmallBlocks: memory that is reserved again and again costs time.
func TestManySmallBlocks(t *testing.T) {
	packed := xzOf(t, make([]byte, 20*xzBlock), xz.WriterConfig{}, func(_ int, header []byte) { header[4] = 28 })
	if _, err := inflated(packed); !errors.Is(err, errXZBlocks) {
		t.Errorf("%v", err)
	}
}

// TestDamagedXZ: nothing else comes out of what was damaged, and nothing of what was cut.
func TestDamagedXZ(t *testing.T) {
	content := bytes.Repeat([]byte("hello "), xzBlock/4)
	packed := xzOf(t, content, xz.WriterConfig{CheckSum: xz.SHA256}, nil)
	for at := range packed[:len(packed)-16] {
		damaged := bytes.Clone(packed)
		damaged[at] ^= 1
		// Without its first bytes it is no xz, and comes out as it is.
		if got, err := inflated(damaged); err == nil && !bytes.Equal(got, content) && !bytes.Equal(got, damaged) {
			t.Errorf("byte %d of %d: %d other bytes came out", at, len(packed), len(got))
		}
	}
	for length := 6; length < len(packed); length++ {
		if _, err := inflated(packed[:length]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d of %d bytes: %v", length, len(packed), err)
		}
	}
	if _, err := inflated(append(bytes.Clone(packed), 0)); !errors.Is(err, errXZ) {
		t.Errorf("something behind the end: %v", err)
	}
}

// FuzzXZ: whatever comes, nothing crashes.
func FuzzXZ(f *testing.F) {
	var out bytes.Buffer
	writer, err := xz.WriterConfig{DictCap: 1 << 16, BlockSize: 10}.NewWriter(&out)
	if err != nil {
		f.Fatal(err)
	}
	if _, err := writer.Write([]byte("hello hello hello hello hello")); err != nil {
		f.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes()[12:])
	f.Fuzz(func(_ *testing.T, packed []byte) {
		_, _ = inflated(append(bytes.Clone(out.Bytes()[:12]), packed...)) // an error is as good
	})
}

func inflated(packed []byte) ([]byte, error) {
	unpacked, err := Decompress(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	defer unpacked.Close() //nolint:errcheck // nothing is written
	return io.ReadAll(unpacked)
}
