package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestWalkRefuses: archives that are not unpacked into a tree keep the limits, too.
func TestWalkRefuses(t *testing.T) {
	limits := Limits{Bytes: 1 << 16, Files: 5, Ratio: 100, Depth: 4}
	var many []tar.Header
	for i := range 6 {
		many = append(many, file(fmt.Sprint(i), 0))
	}
	for _, test := range []struct {
		reason  string
		content []byte
		want    string
	}{
		{"too many files", tarOf(t, many...), "the number of files of the archive"},
		{"too many bytes", tarOf(t, file("a", 1<<16), file("b", 1)), "the unpacked number of bytes of the archive"},
		{"a link", tarOf(t, tar.Header{Typeflag: tar.TypeSymlink, Name: "a", Linkname: "b"}), "is a link"},
		{"a hard link", tarOf(t, file("b", 1), tar.Header{Typeflag: tar.TypeLink, Name: "a", Linkname: "b"}), "is a link"},
		{"a device", tarOf(t, tar.Header{Typeflag: tar.TypeBlock, Name: "sda"}), "device"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			err := Walk(bytes.NewReader(test.content), limits, func(e Entry) error { _, err := io.Copy(io.Discard, e.Content); return err })
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestSparseFiles: a file of a few bytes may say that it has holes of gigabytes.
func TestSparseFiles(t *testing.T) {
	var out bytes.Buffer
	const records = " GNU.sparse.major=1\n GNU.sparse.minor=0\n GNU.sparse.name=sparse\n GNU.sparse.realsize=1099511627776\n"
	writeRaw(&out, tar.TypeXHeader, "pax", sparseRecords(records))
	writeRaw(&out, tar.TypeReg, "sparse", "1\n1099511627775\n1\n"+strings.Repeat("\x00", 512-18)+"x")
	out.Write(make([]byte, 1024))
	if _, err := Unpack(&out, Limits{Bytes: 1 << 20, Files: 5, Ratio: 1000, Depth: 4}); !isTooLarge(err) {
		t.Errorf("a hole of a terabyte: %v", err)
	}
}

// sparseRecords puts the right lengths before the records of an extended header.
func sparseRecords(records string) string {
	var out strings.Builder
	for line := range strings.Lines(records) {
		_, rest, _ := strings.Cut(line, " ")
		length := len(rest) + 3
		if length > 99 {
			length++
		}
		fmt.Fprintf(&out, "%d %s", length, rest)
	}
	return out.String()
}

// writeRaw writes an entry that the library does not write.
func writeRaw(out *bytes.Buffer, kind byte, name, content string) {
	block := make([]byte, 512)
	copy(block, name)
	copy(block[100:], "0000644\x000000000\x000000000\x00")
	copy(block[124:], fmt.Sprintf("%011o\x00%011o\x00", len(content), 0))
	block[156] = kind
	copy(block[257:], "ustar\x0000")
	copy(block[148:], "        ")
	sum := 0
	for _, b := range block {
		sum += int(b)
	}
	copy(block[148:], fmt.Sprintf("%06o\x00 ", sum))
	out.Write(block)
	out.WriteString(content)
	out.Write(make([]byte, (512-len(content)%512)%512))
}

// TestDecompressRefusesGreedyZstd: a frame may ask for a window of gigabytes.
func TestDecompressRefusesGreedyZstd(t *testing.T) {
	// The magic number, a frame header with a window of 2^(10+n) bytes, and the last
	// block, which has one byte.
	frame := func(n byte) []byte { return []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, n << 3, 0x09, 0x00, 0x00, 'x'} }
	if got, err := Inflate(bytes.NewReader(frame(10)), DefaultLimits()); err != nil || string(got) != "x" {
		t.Errorf("a window of 1 MiB: %q, %v", got, err)
	}
	_, err := Inflate(bytes.NewReader(frame(17)), DefaultLimits())
	if err == nil || !strings.Contains(err.Error(), zstd.ErrWindowSizeExceeded.Error()) {
		t.Errorf("a window of 128 MiB: %v", err)
	}
}
