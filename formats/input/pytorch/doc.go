// Package pytorch reads the tensors of a checkpoint that PyTorch's torch.save wrote (since version 1.6): a zip
// archive of a pickle, data.pkl, and a file of raw numbers for each storage, data/0, data/1, ...
//
// A pickle is a program for a stack machine, and Python's runs whatever function it names. This package knows
// the few instructions that torch.save writes for numbers, texts, lists, dicts and tensors, and no function: a
// file with any other is refused. Nothing that a file says is allocated before the file was found to have it,
// so that memory is bounded by the size of the file.
//
// archive.go checks the zip, pickle.go is the stack machine, tensor.go makes its tensors and reads their storages.
// Package model/pretrained reads the weights of ULTRA with it.
package pytorch
