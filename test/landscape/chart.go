package landscape

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
)

// Chart returns a packed Helm chart, as items hold it. The files are those of the chart
// besides Chart.yaml, whose further lines are given.
func Chart(name, version, about string, files map[string]string) (string, error) {
	all := maps.Clone(files)
	if all == nil {
		all = map[string]string{}
	}
	all["Chart.yaml"] = fmt.Sprintf("apiVersion: v2\nname: %s\nversion: %s\n%s", name, version, about)
	var packed bytes.Buffer
	compressed := gzip.NewWriter(&packed)
	archive := tar.NewWriter(compressed)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		header := &tar.Header{Name: name + "/" + file, Mode: 0o644, Size: int64(len(all[file])), Typeflag: tar.TypeReg}
		if err := archive.WriteHeader(header); err != nil {
			return "", err
		}
		if _, err := archive.Write([]byte(all[file])); err != nil {
			return "", err
		}
	}
	if err := archive.Close(); err != nil {
		return "", err
	}
	if err := compressed.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}
