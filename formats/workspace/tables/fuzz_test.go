package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
)

// FuzzReaders checks that no file makes a reader panic or allocate out of proportion. Since a
// checksum detects nearly every change, each file is also tried with corrected checksums, as a
// forger would write it.
func FuzzReaders(f *testing.F) {
	for _, k := range kinds {
		for _, n := range []int{0, 3} {
			url := "mem://fuzz/seed"
			if err := k.write(context.Background(), url, k.rows(n)); err != nil {
				f.Fatal(err)
			}
			file, _ := storage.ReadFile(context.Background(), url)
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, file := range [][]byte{file, repairChecksums(file)} {
			url := "mem://fuzz/" + t.Name()
			if err := storage.WriteFile(t.Context(), url, file); err != nil {
				t.Fatal(err)
			}
			for _, k := range kinds {
				rows, err := k.read(t.Context(), url)
				if err != nil {
					continue
				}
				if err := k.write(t.Context(), url+"-again", rows); err != nil && k.name != "distances" {
					t.Fatalf("%s can be read but not written: %v", k.name, err)
				}
			}
		}
	})
}

// repairChecksums corrects the checksums of a file, as far as its lengths allow. It does not do so for
// a forged schema: Arrow allocates as many columns as a schema declares, and only the checksum
// protects from that.
func repairChecksums(file []byte) []byte {
	file = append([]byte(nil), file...)
	if len(file) < headerStart+tailLength+endLength {
		return file
	}
	footer := len(file) - endLength - int(binary.LittleEndian.Uint32(file[len(file)-endLength:]))
	if footer < headerStart+tailLength {
		return file
	}
	tailStart := footer - tailLength
	blocks := int(binary.LittleEndian.Uint32(file[tailStart+4:]))
	if blocks > (tailStart-headerStart)/entryLength {
		return file
	}
	entries := tailStart - blocks*entryLength
	header := entries
	for i := range blocks {
		at := file[entries+i*entryLength:]
		var b block
		_, _ = binary.Decode(at, binary.LittleEndian, &b)
		if b.Offset < 0 || b.Length < 0 || b.Offset > int64(len(file)) || b.Length > int64(len(file))-b.Offset {
			return file
		}
		if i == 0 {
			header = min(int(b.Offset), entries)
		}
		binary.LittleEndian.PutUint32(at[28:], crc(file[b.Offset:b.Offset+b.Length]))
	}
	if header < headerStart || !knownSchema(file[headerStart:header]) {
		return file
	}
	sum := frameChecksum(file[:header], file[entries:tailStart], blocks, file[footer:])
	binary.LittleEndian.PutUint32(file[tailStart+8:], sum)
	return file
}

// knownSchema reports whether bytes begin with the schema message of a sample table.
func knownSchema(message []byte) bool {
	for _, schema := range []*arrow.Schema{namesSchema(Entities), edgesSchema, queriesSchema, answersSchema, typesSchema, partSizes.schema(),
		distancesSchema(7, 6), distancesSchema(9, hop.Most)} {
		var encoded bytes.Buffer
		w := ipc.NewWriter(&encoded, ipc.WithSchema(schema))
		w.Close()
		if known := encoded.Bytes()[:encoded.Len()-8]; bytes.HasPrefix(message, known) { // without the end of the stream
			return true
		}
	}
	return false
}
